"""The one writer, the commands that use it, and what a write changes beside the written item."""
