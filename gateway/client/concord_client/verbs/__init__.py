"""The client for programs: verbs with typed arguments, plain data as replies, errors by reason.

A verb is written once, as a step: a request, and a function that reads its reply. Both clients, the
synchronous and the asynchronous one, take the same steps.
"""
