"""One gRPC address for every service: bytes in, bytes out, no word of any contract."""
