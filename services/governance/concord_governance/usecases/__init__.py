"""What can be done: one module for each thing that somebody wants."""
