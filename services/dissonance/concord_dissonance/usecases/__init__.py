"""What dissonance does, one use case a module."""
