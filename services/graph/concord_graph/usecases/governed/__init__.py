"""Changes that need consent: applied, previewed, undone."""
