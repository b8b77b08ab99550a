"""The one writer, the commands that use it, and the effects of a write on other items."""
