"""`concord-hook`: what a client's hooks run, so that an agent recalls without asking (S9).

A client such as Claude Code starts it at an event, gives it the event as JSON on standard input,
and puts what it prints before the model. The whole package uses the standard library only: it is
started at every prompt and every tool, and importing the client would cost more than the search.
"""
