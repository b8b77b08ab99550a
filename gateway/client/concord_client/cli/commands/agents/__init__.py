"""Commands for those who run agents."""
