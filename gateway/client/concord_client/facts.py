"""Reads a fact as people write it on the command line and in front matter."""

from concord.type.v1.type_pb2 import Fact


def fact_of(stated: str) -> Fact:
    """The fact in `SUBJECT|RELATION|OBJECT`. Raises ValueError without three parts, none empty."""
    parts = [part.strip() for part in stated.split("|")]
    if len(parts) != 3 or not all(parts):
        raise ValueError(f'not "SUBJECT|RELATION|OBJECT": {stated[:60]!r}')
    subject, relation, target = parts
    return Fact(subject=subject, relation=relation, object=target)
