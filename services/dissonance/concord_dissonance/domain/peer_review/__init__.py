"""Peer review: different models' reviews of an answer, and the verdict counted from them."""
