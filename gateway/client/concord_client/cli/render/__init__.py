"""How replies look on a terminal."""
