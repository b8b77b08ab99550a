"""Graph's gRPC servicers: each method translates in, calls one use case, translates out."""
