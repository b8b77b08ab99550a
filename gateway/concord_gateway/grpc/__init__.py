"""One gRPC address for every service: forwards bytes and knows no contract."""
