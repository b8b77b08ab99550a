"""The guided tour of `concord demo`, which checks each of its claims."""
