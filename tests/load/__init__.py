"""Load as users bring it: calls arrive when they arrive, however slow the replies are."""
