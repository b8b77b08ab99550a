"""Peer review: what different models say of an answer, and what follows from it by counting."""
