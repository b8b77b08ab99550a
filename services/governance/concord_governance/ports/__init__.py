"""What governance needs from outside itself, and what it may and may not rely on."""
