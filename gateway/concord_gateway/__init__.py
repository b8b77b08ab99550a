"""The front door: authenticates, forwards, renders, and decides nothing."""
