"""The framing judge over a model."""
