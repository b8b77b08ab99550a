"""Dissonance's domain: disagreements and how they are judged, without a store or a network."""
