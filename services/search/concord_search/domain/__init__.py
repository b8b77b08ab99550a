"""What search knows: candidates, signals, the composite score, explanations. Numpy, no store."""
