"""Search's domain: candidates, signals, composite score, confidence, explanations; no store."""
