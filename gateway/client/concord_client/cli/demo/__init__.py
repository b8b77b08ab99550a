"""The guided tour that `concord demo` gives; every claim it makes is checked as it is made."""
