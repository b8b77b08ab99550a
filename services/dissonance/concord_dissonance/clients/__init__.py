"""Clients of the services that dissonance asks, by their contracts, and the promises it relies on.

Every method may raise `ServiceUnavailable` or `ServiceRefused`. Methods that act for a caller carry
the caller's own credential, so that nobody gains a right by asking dissonance; their refusals reach
the caller unchanged.
"""
