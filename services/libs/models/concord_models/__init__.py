"""Models that are asked over a network: `endpoint` asks, tries again and checks each reply."""
