"""The link grammar of spec M3: `Supersedes: [[memory:ID]]` and its kin, on lines of prose.

A link is `[[memory:ID]]`, also `[[memory:ID#heading|text]]`, "memory" in any case. Its relation
is that of the relation word before it on its line, else RELATED_TO:

- Relation words are supersede, deprecate, amend and contradict, their -s and their past forms,
  in any case and emphasis.
- Between the word and its first link may stand the rest of a noun phrase, up to 8 words: "This
  supersedes the older decision [[memory:a]]". What begins another thought ends the reach: the
  end of a sentence, a bracket, a comma or a dash after further words, a negation, and words
  such as "see", "by", "use", "but", "and".
- After the first link the relation runs on over links parted only by commas, "and", "und" or
  "&". Anything else ends it: in "Supersedes: [[memory:a]], see also [[memory:b]]" b is related.
- A word negated anywhere before it in its sentence makes no relation ("does not supersede", "no
  longer supersedes", "never amends", "rather than amend"; "not only supersedes" does). Wrong
  supersession destroys knowledge, so a far negation counts too; "but" ends it, and so does a
  comma after a link where no "and", "or" or "nor" carries it on. German negations count
  ("supersedes nicht", "weder supersedes noch amends"), also right after the links: "Das
  supersedes [[memory:a]] nicht".
- A past form makes none in the passive ("is superseded", "superseded by [[memory:b]]": the link
  names the newer memory), and with no subject before it only directly at its link
  ("Deprecated: [[memory:a]]" does, "Deprecated, use [[memory:b]]" does not).

The sentence is read as this memory's own also where it names another as its subject.
A relation at an empty or invalid id is an error; without a relation such a link is text, as is
`[[Other note]]`. The same relation to the same target counts once.
"""

import re
from dataclasses import dataclass, field

from concord_graph.adapters.markdown.prose import HIDDEN, prose_lines
from concord_graph.domain.links import (
    AMENDS,
    CONTRADICTS,
    DEPRECATES,
    RELATED_TO,
    SUPERSEDES,
    Link,
    MalformedLink,
    is_memory_id,
)

_MAY_HAVE_LINK = re.compile(r"\[\[[ \t]*memory", re.IGNORECASE)
_TOKEN = re.compile(
    r"\[\[[ \t]*memory[ \t]*:(?P<target>[^\[\]\n]*)\]\]"
    r"|(?P<word>\w+(?:['’-]\w+)*)"
    r"|(?P<stop>[.;!?:](?!\S)|[,()–—]|(?<!\S)--?(?!\S))"
    rf"|(?P<hidden>{HIDDEN})",
    re.IGNORECASE,
)
_PRESENT = {
    form: relation
    for stem, relation in [
        ("supersede", SUPERSEDES),
        ("deprecate", DEPRECATES),
        ("amend", AMENDS),
        ("contradict", CONTRADICTS),
    ]
    for form in (stem, stem + "s")
}
_PAST = {
    "superseded": SUPERSEDES,
    "deprecated": DEPRECATES,
    "amended": AMENDS,
    "contradicted": CONTRADICTS,
}
_NEGATIONS = frozenset(
    """
    not never no neither nor none nothing nobody nowhere without cannot hardly scarcely barely
    cant dont doesnt didnt wont wouldnt shouldnt couldnt isnt wasnt arent werent unable
    nicht nichts kein keine keinen keinem keiner keines nie niemals weder ohne nirgends kaum
    """.split()  # noqa: SIM905 - a word list reads as words
)
_NEGATING_PAIRS = frozenset(
    [("rather", "than"), ("fail", "to"), ("fails", "to"), ("failed", "to"), ("refuses", "to")]
)
_NEGATES_WHAT_IT_FOLLOWS = frozenset(["nicht", "nie", "niemals"])
_PASSIVE_AUXILIARIES = frozenset(
    """
    is are was were be been being get gets got getting become becomes became
    it's that's they're we're ist sind war waren wird werden wurde wurden worden
    """.split()  # noqa: SIM905 - a word list reads as words
)
_ENDS_THE_REACH = frozenset(
    """
    see cf by per via use using used because since unlike instead favour favor according thanks
    and or but while whereas although though however than
    siehe vgl durch von wegen weil statt seit laut und oder aber sondern obwohl
    """.split()  # noqa: SIM905 - a word list reads as words
)
_NOT_ONLY = frozenset(["only", "just", "merely", "nur", "bloß", "lediglich"])
_TURNS = frozenset(["but", "sondern", "aber"])
_CARRIES_ON = frozenset(["and", "or", "nor", "und", "oder", "noch"])
_JOINS_LINKS = frozenset(["and", "und"])
_DASHES = frozenset(["–", "—", "-", "--"])
_FURTHEST = 8  # words between a relation word and its link
_AUXILIARY_REACH = 3  # "is", up to two words, "superseded"


def parse_links(content: str) -> tuple[Link, ...]:
    """Return the links of a Markdown content in order of appearance, each once.

    Raises MalformedLink where a relation word stands before a link without a valid id.
    Front matter is not known here; a link to the memory itself is returned like any other.
    """
    if not _MAY_HAVE_LINK.search(content):
        return ()
    found: dict[Link, None] = {}
    for line in prose_lines(content):
        if _MAY_HAVE_LINK.search(line):
            found.update(dict.fromkeys(_links_of(line)))
    return tuple(found)


def _links_of(line: str) -> list[Link]:
    reader = _LineReader()
    for token in _TOKEN.finditer(line):
        target = token["target"]
        if target is not None:
            reader.read_link(target, token[0])
        elif token["word"] is not None:
            word = token["word"].strip("_").casefold().replace("’", "'")
            if word:
                reader.read_word(word)
        elif token["stop"] is not None:
            reader.read_stop(token["stop"])
        else:
            reader.read_word(HIDDEN)
    return reader.links


@dataclass(slots=True)
class _LineReader:
    """Reads one line from left to right; what it holds is what may still matter."""

    links: list[Link] = field(default_factory=list)
    relation: str | None = None  # of the last relation word, while its first link may come
    only_directly: bool = False  # a past form without a subject: its link must follow at once
    distance: int = 0  # words read since that relation word
    running: str | None = None  # the relation of the last link, while the run goes on
    run: int = 0  # how many links that run has so far
    negated: bool = False
    previous: str = ""
    subject: bool = False  # a word stood before in this sentence
    since_auxiliary: int = _AUXILIARY_REACH  # words read since the last "is", "was", ...
    comma_after_link: bool = False
    after_link: bool = False

    def read_link(self, target: str, written: str) -> None:
        relation = self.running or self.relation
        target_id = target.partition("|")[0].partition("#")[0].strip(" \t")
        self._end_reach()
        self.after_link, self.subject = True, True
        if is_memory_id(target_id):
            self.run = self.run + 1 if self.running else 1
            self.links.append(Link(relation or RELATED_TO, target_id))
            self.running = relation
        elif relation:
            raise MalformedLink(written)

    def read_word(self, word: str) -> None:
        if self.comma_after_link and word not in _CARRIES_ON:
            self.negated = False
        if self.after_link and self.running and word in _NEGATES_WHAT_IT_FOLLOWS:
            self._take_back()
        self.after_link = self.comma_after_link = False
        if word not in _JOINS_LINKS:
            self.running = None
        self._note_negation(word)
        if word in _PRESENT:
            self._begin(_PRESENT[word], only_directly=False)
        elif word in _PAST:
            self._begin(_PAST[word], only_directly=not self.subject)
            if self.since_auxiliary < _AUXILIARY_REACH:
                self.relation = None
        elif self.relation:
            self._read_between(word)
        self.subject = True
        self.since_auxiliary = 0 if word in _PASSIVE_AUXILIARIES else self.since_auxiliary + 1

    def read_stop(self, sign: str) -> None:
        if sign == ",":
            self.comma_after_link = self.after_link
            if self.distance:
                self.relation = None
        elif sign in _DASHES:
            self.running = None
            if self.distance:
                self.relation = None
        else:
            self.running = None
            if sign != ":":
                self.relation = None
            if sign not in "()":
                self.negated = self.subject = False
        self.after_link = False

    def _begin(self, relation: str, *, only_directly: bool) -> None:
        self.relation = None if self.negated else relation
        self.only_directly, self.distance = only_directly, 0

    def _read_between(self, word: str) -> None:
        self.distance += 1
        too_far = self.distance > _FURTHEST or self.only_directly
        if too_far or self.negated or word in _ENDS_THE_REACH:
            self.relation = None

    def _note_negation(self, word: str) -> None:
        if word in _TURNS or (word in _NOT_ONLY and _is_negation(self.previous)):
            self.negated = False
        pair = (self.previous, word) in _NEGATING_PAIRS
        self.negated = self.negated or pair or _is_negation(word)
        self.previous = word

    def _take_back(self) -> None:
        """Relate, and no more, what the run of links just read said."""
        for place in range(len(self.links) - self.run, len(self.links)):
            self.links[place] = Link(RELATED_TO, self.links[place].target_id)

    def _end_reach(self) -> None:
        self.relation = None
        self.comma_after_link = False


def _is_negation(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")
