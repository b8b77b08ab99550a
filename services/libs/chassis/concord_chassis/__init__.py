"""The gRPC servers and channels of all services, without the business rules of any.

Rooms, each above what it may import: `server` (a server's life, its health and its background
work), `channel` (calls to other services), `call` (one call: its contract, stages, field rules,
caller, deadline and refusals), `observe` (log, metrics, traces and request ids), and `config`.
"""
