"""Graph's domain: plain data and rules. Standard library only."""
