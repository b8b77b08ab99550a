"""What is kept of a text that was read: keyed hashes of its words, from which no text is made.

They find which texts are about the same things without a parse of each. Without the key nobody can
hash a word to look for it.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Self

from concord_reading.lexicon import lexicon
from concord_reading.prose import without_quotations
from concord_reading.reader import missing
from concord_reading.tokens import content_of, sentences_of

from concord_dissonance.domain.sides import Kind, Side

READ = "2"
"""The version of sketches and of what they are made from. After a change of it all texts are read
anew."""
_BYTES = 8


@dataclass(frozen=True, slots=True)
class Sketch:
    """The hashed words of a text."""

    sentences: Sequence[Set[int]] = ()
    """The stems of each sentence's content."""
    things: Sequence[Set[int]] = ()
    """The words of the names, persons and nouns of each frame that can be compared."""

    @property
    def content(self) -> Set[int]:
        """The stems of all sentences."""
        return frozenset().union(*self.sentences)

    def shares_a_thing(self, other: Self) -> bool:
        """Whether a frame of each is about the same thing: only then frames are compared."""
        own = frozenset().union(*self.things)
        return any(not own.isdisjoint(each) for each in other.things)

    def packed(self) -> bytes:
        """Return it as bytes: how many sentences, then of each set its size and its hashes."""
        return array("Q", [len(self.sentences), *_sized(self.sentences, self.things)]).tobytes()

    @classmethod
    def unpacked(cls, data: bytes) -> Self:
        """Return the sketch whose bytes these are."""
        numbers = array("Q", data)
        sentences, at = numbers[0] if numbers else 0, 1
        sets: list[frozenset[int]] = []
        while at < len(numbers):
            end = at + 1 + numbers[at]
            sets.append(frozenset(numbers[at + 1 : end]))
            at = end
        return cls(sets[:sentences], sets[sentences:])


def _sized(*parts: Sequence[Set[int]]) -> Iterator[int]:
    for each in chain.from_iterable(parts):
        yield len(each)
        yield from sorted(each)


def sketch(side: Side, key: bytes) -> Sketch:
    """Return the sketch of a side's text, which is read if it was not."""
    return Sketch(
        [_hashed(each, key) for each in _sentences(side)],
        [_hashed(each.things, key) for each in side.frames.asserted if each.things],
    )


def _sentences(side: Side) -> Iterator[Iterable[str]]:
    """Yield the stems of each sentence's content."""
    words, text = lexicon(side.frames.language), without_quotations(side.prose)
    return filter(None, (content_of(each, words) for each, _ in sentences_of(text, words)))


def version(side: Side, key: bytes) -> bytes:
    """Return 16 bytes that are the same for sides of which the same is read."""
    read = (READ, missing(), side.passage.speaker, str(side.kind is Kind.PLAN), side.text)
    return blake2b("\0".join(read).encode(), key=key, digest_size=16).digest()


def _hashed(words: Iterable[str], key: bytes) -> Set[int]:
    return frozenset(_hash(each, key) for each in words)


@lru_cache(maxsize=20_000)
def _hash(word: str, key: bytes) -> int:
    return int.from_bytes(blake2b(word.encode(), key=key, digest_size=_BYTES).digest())
