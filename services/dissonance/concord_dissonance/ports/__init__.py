"""What dissonance's use cases need: models, leases, and the plain data of their calls."""
