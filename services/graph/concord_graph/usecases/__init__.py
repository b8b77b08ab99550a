"""What can be asked of graph: commands that write through one writer, and queries."""
