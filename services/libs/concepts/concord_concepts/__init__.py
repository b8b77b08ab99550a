"""Extracts the concepts of a text, in the same way for all services.

Graph extracts the concepts of a memory when it is written, search those of a query; both call
this package, so that the two sets can match. See services/decisions/0002.
"""

from concord_concepts.extraction import MAX_CONCEPT_LENGTH, extract
from concord_concepts.normal_form import normalise

__all__ = ["MAX_CONCEPT_LENGTH", "extract", "normalise"]
