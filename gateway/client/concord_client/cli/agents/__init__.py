"""What the tools for agents do with the keys of this machine."""
