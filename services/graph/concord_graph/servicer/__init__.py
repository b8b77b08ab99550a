"""The edge: translate in, one use case, translate out."""
