"""What an operator sees: log, metrics and traces."""
