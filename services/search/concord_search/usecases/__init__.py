"""What search does, one module per deed."""
