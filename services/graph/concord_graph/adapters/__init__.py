"""Technologies behind graph's ports."""
