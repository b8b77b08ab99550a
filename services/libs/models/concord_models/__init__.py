"""Clients of models behind a network: `endpoint` asks, retries and checks each reply."""
