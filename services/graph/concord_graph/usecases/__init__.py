"""Graph's use cases: commands that write through one writer, and reads."""
