"""Channels to other services: addresses, TLS, keepalive and call defaults."""
