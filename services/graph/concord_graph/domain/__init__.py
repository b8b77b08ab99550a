"""What graph's words mean: plain data and rules. Standard library only."""
