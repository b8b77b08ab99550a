"""HTTP/JSON for the same contracts, as the Connect protocol's unary calls."""
