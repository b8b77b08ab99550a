"""Which words a text is about, decided the same way wherever it is asked.

Graph extracts the concepts of a memory when it is written, search those of a query when it is
asked; both call this package, so the two sets can meet. See services/decisions/0002.
"""

from concord_concepts.extraction import MAX_CONCEPT_LENGTH, extract
from concord_concepts.normal_form import normalise

__all__ = ["MAX_CONCEPT_LENGTH", "extract", "normalise"]
