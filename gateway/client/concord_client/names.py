"""Looks for names in texts, as graph does: whole words, without case and diacritics."""

import re
import unicodedata
from collections.abc import Iterable


class Names:
    """Some names of one person."""

    def __init__(self, names: Iterable[str]) -> None:
        wanted = "|".join(re.escape(_fold(name)) for name in names if name)
        self._pattern = re.compile(rf"(?<![^\W_])(?:{wanted})(?![^\W_])") if wanted else None

    def are_in(self, text: str) -> bool:
        """Whether the text has one of the names."""
        return self._pattern is not None and self._pattern.search(_fold(text)) is not None


def _fold(name: str) -> str:
    apart = unicodedata.normalize("NFKD", name)
    plain = "".join(character for character in apart if not unicodedata.combining(character))
    return " ".join(plain.casefold().split())
