"""Lone halves of surrogate pairs in JSON: parsers refuse the whole message, so nobody is answered.

A door marks them before it parses a message, and the tools refuse the argument that has a mark.
"""

import re

MARK = "\ufdd0"
"""A noncharacter, which no text has."""

_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|\\."
)


def marked(message: bytes) -> bytes:
    """The JSON with a mark in place of each lone half."""
    return _ESCAPE.sub(lambda found: rb"\ufdd0" if found[1] else found[0], message)
