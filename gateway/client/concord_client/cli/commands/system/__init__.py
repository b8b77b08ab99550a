"""Commands on the running system."""
