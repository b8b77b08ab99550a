"""A server's life: settings, start, health, background work, drain and stop."""
