"""The outside that dissonance needs, and the promises it relies on.

Every method may raise `ServiceUnavailable` or `ServiceRefused`. Those that act for a caller carry
the caller's own credential, so that nobody gains a right by asking dissonance; what they are
refused reaches that caller as it is.
"""
