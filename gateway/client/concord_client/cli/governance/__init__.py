"""What the commands of governance share: witness and keys, what was shown and may be signed."""
