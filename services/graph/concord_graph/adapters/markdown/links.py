"""The link grammar of spec M3: `Supersedes: [[memory:ID]]` and its kin, on lines of prose.

A link is `[[memory:ID]]`, also `[[memory:ID#heading|text]]`, "memory" in any case. Its relation
is that of the relation word before it on its line, else RELATED_TO:

- Relation words are supersede, deprecate, amend and contradict, their -s and their past forms,
  in any case and emphasis.
- Between the word and its first link may stand the rest of a noun phrase, up to 8 words: "This
  supersedes the older decision [[memory:a]]". The reach ends at a new thought: at the end of a
  sentence, a bracket, a comma, a dash or a bar after further words, a negation, and words such
  as "see", "by", "use", "but", "and".
- A word right before a colon is a label, and reaches to the next label only: in
  "Supersedes: - | Related: [[memory:b]]" b is related, also where labels are bold or italic.
- After the first link the relation runs on over links parted only by commas, "and", "und" or
  "&". Anything else ends it: in "Supersedes: [[memory:a]], see also [[memory:b]]" b is related.
- A word negated anywhere before it in its sentence makes no relation ("does not supersede", "no
  longer supersedes", "never amends", "rather than amend", "it is wrong that this supersedes"; "not
  only supersedes" does). Wrong
  supersession destroys knowledge, so a far negation counts too; "but" ends it, and so does a
  comma after a link where no "and", "or" or "nor" carries it on. German negations count
  ("supersedes nicht", "weder supersedes noch amends"), also right after the links: "Das
  supersedes [[memory:a]] nicht".
- A past form makes none in the passive ("is superseded", "superseded by [[memory:b]]": the link
  names the newer memory), and with no subject before it only directly at its link
  ("Deprecated: [[memory:a]]" does, "Deprecated, use [[memory:b]]" does not).

- A question makes no relation, nor does a possibility: after "if", "whether", "might", "could",
  "perhaps" and their like, in English and German, up to the end of the sentence or "but"; a
  condition right after the links counts too ("supersedes [[memory:a]] if all agree").
- A relation word that is part of a thing's name makes none: after an article or "its"
  ("the superseded plan [[memory:a]]"), before "relation", "link" and their like.

A sentence may run over the lines of its paragraph: a negation, a condition or a question counts
on the next line, too, where that one begins in lower case and the one before ends no sentence. A
relation does not: its word stands on the line of its link. `supersedes:` at the beginning of a
line is a label, and no sentence comes to it from the line before.

The sentence is read as this memory's own also where it names another as its subject. A link
without a valid id, and with a relation word, is returned as malformed; without one it is text, as
is `[[Other note]]`. Whether a relation word acts depends on who speaks (`domain.links.Voice`): each
link comes with its line, whether that is quoted, and whether the word begins it, after emphasis or
in a status ("Status: supersedes [[memory:a]]").
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from concord_graph.adapters.markdown import link_words as words
from concord_graph.adapters.markdown.prose import HIDDEN, prose_paragraphs
from concord_graph.domain.links import RELATED_TO, Link, WrittenLink, is_memory_id

_MAY_HAVE_LINK = re.compile(r"\[\[[ \t]*memory", re.IGNORECASE)
_TOKEN = re.compile(
    r"\[\[[ \t]*memory[ \t]*:(?P<target>[^\[\]\n]*)\]\]"
    r"|(?P<word>\w+(?:['’-]\w+)*)"
    r"|(?P<stop>[.;!](?!\S)|:(?=[*_]{0,3}(?:\s|$|\[\[))|\?(?!\w)|[,()–—|]|(?<!\S)--?(?!\S))"
    r"|(?P<break>\n)"
    rf"|(?P<hidden>{HIDDEN})",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[\W_]*[^\W_]+[\W_]*?:")
_FIRST_LETTER = re.compile(r"[^\W_]")
_ENDS = frozenset(".;!?")
_ENDINGS = (".", ";", "!", "?", ":")
_CLOSING = " \t*_\"'”’»)]"
_OWN_LINE = re.compile(r"[ \t*_]*(?:status[ \t*_]*:.*)?", re.IGNORECASE)
"""What may stand before the relation word that a line begins with: emphasis, or a status."""
_DASHES = frozenset(["–", "—", "-", "--", "|"])
_FURTHEST = 8  # words between a relation word and its link
_AUXILIARY_REACH = 3  # "is", up to two words, "superseded"


def parse_links(content: str) -> tuple[WrittenLink, ...]:
    """Return the links of a Markdown content in order of appearance.

    Front matter is not known here; a link to the memory itself is returned like any other.
    """
    if not _MAY_HAVE_LINK.search(content):
        return ()
    found: list[WrittenLink] = []
    for paragraph, quoted in prose_paragraphs(content):
        for lines in _running_on(paragraph):
            if _MAY_HAVE_LINK.search(lines):
                found += _links_of(lines, quoted=quoted)
    return tuple(found)


def _running_on(paragraph: list[str]) -> Iterator[str]:
    """Yield the lines of a paragraph; lines over which one sentence runs come as one text."""
    together: list[str] = []
    for line in paragraph:
        if together and not _goes_on(together[-1], line):
            yield "\n".join(together)
            together = []
        together.append(line)
    yield "\n".join(together)


def _goes_on(line: str, following: str) -> bool:
    """Whether a sentence of `line` goes on in the line below it."""
    first = _FIRST_LETTER.search(following)
    if first is None or not first[0].islower() or _LABEL.match(following):
        return False
    return not line.rstrip(_CLOSING).endswith(_ENDINGS)


def _links_of(lines: str, *, quoted: bool) -> list[WrittenLink]:
    reader = _LineReader(lines, quoted)
    reader.begin_line(0)
    for sentence, is_question in _sentences(lines):
        reader.begin_sentence(is_question=is_question)
        for token in sentence:
            _read(reader, token)
    return reader.links


def _sentences(lines: str) -> Iterator[tuple[list[re.Match[str]], bool]]:
    """Yield the sentences of lines, as tokens, and whether each is a question."""
    sentence: list[re.Match[str]] = []
    for token in _TOKEN.finditer(lines):
        sentence.append(token)
        if token["stop"] is not None and token["stop"] in _ENDS:
            yield sentence, token["stop"] == "?"
            sentence = []
    yield sentence, False


def _read(reader: "_LineReader", token: re.Match[str]) -> None:
    target, written = token["target"], token["word"]
    if target is not None:
        reader.read_link(target, token[0])
    elif written is not None:
        word = written.strip("_")
        if word:
            reader.read_word(word.casefold().replace("’", "'"), word, token.start())
    elif token["stop"] is not None:
        reader.read_stop(token["stop"])
    elif token["break"] is not None:
        reader.read_break(token.end())
    else:
        reader.read_word(HIDDEN, HIDDEN, token.start())


@dataclass(slots=True)
class _LineReader:
    """Reads lines from left to right; its fields are the parser's state."""

    lines: str
    quoted: bool
    line: str = ""
    line_start: int = 0
    links: list[WrittenLink] = field(default_factory=list)
    may_begin: bool = True  # the line goes on with no sentence, but perhaps with such lines
    begins: bool = False  # the last relation word began its line
    relation: str | None = None  # of the last relation word, while its first link may come
    only_directly: bool = False  # a past form without a subject: its link must follow at once
    distance: int = 0  # words read since that relation word
    label: bool = False  # a colon stood right behind it
    running: str | None = None  # the relation of the last link, while the run goes on
    run: int = 0  # how many links that run has so far
    negated: bool = False
    question: bool = False
    doubtful: bool = False  # a condition or "might" stood before in this sentence
    previous: str = ""
    article: bool = False  # the word before was one, or "its"
    only_article: bool = False  # the sentence began with "A", and nothing more was read
    subject: bool = False  # a word stood before in this sentence
    since_auxiliary: int = _AUXILIARY_REACH  # words read since the last "is", "was", ...
    comma_after_link: bool = False
    after_link: bool = False

    def begin_line(self, start: int) -> None:
        end = self.lines.find("\n", start)
        self.line_start, self.line = start, self.lines[start : end if end >= 0 else None]

    def begin_sentence(self, *, is_question: bool) -> None:
        self.question, self.doubtful = is_question, False

    def read_link(self, target: str, written: str) -> None:
        relation = self.running or self.relation
        target_id = target.partition("|")[0].partition("#")[0].strip(" \t")
        self._end_reach()
        self.after_link, self.subject, self.article = True, True, False
        is_valid = is_memory_id(target_id)
        if is_valid or relation:
            self.run = self.run + 1 if self.running else 1
            link = Link(relation or RELATED_TO, target_id if is_valid else "")
            begins = self.begins and bool(relation)
            malformed = "" if is_valid else written
            self.links.append(WrittenLink(link, self.line, self.quoted, begins, malformed))
            self.running = relation
        else:
            self.run = 0

    def read_word(self, word: str, written: str, place: int) -> None:
        if self.comma_after_link and word not in words.CARRIES_ON:
            self.negated = False
        if self.run and self._takes_back(word):
            self._take_back()
        self.after_link = self.comma_after_link = False
        if word not in words.JOINS_LINKS:
            self.running = None
        self._note_doubt(word, is_month=written == words.THE_MONTH)
        self._note_negation(word)
        if word in words.PRESENT or word in words.PAST:
            self._read_relation(word, place)
        elif self.relation:
            self._read_between(word)
        self.only_article = written == words.A_NAME_OR_ARTICLE and not self.subject
        self.article = word in words.MAKES_A_NOUN and written != words.A_NAME_OR_ARTICLE
        self.subject = True
        self.since_auxiliary = 0 if word in words.PASSIVE_AUXILIARIES else self.since_auxiliary + 1

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
            if sign != ":" or (self.label and self.distance):
                self.relation = None
            self.label = sign == ":" and not self.distance
            if sign not in "()":
                self.negated = self.subject = False
        self.after_link = self.article = self.only_article = False

    def read_break(self, line_start: int) -> None:
        self.relation = self.running = None
        self.may_begin = self.begins
        self.begins = False
        self.begin_line(line_start)

    def _read_relation(self, word: str, place: int) -> None:
        is_first = _OWN_LINE.fullmatch(self.lines, self.line_start, place) is not None
        self.begins = is_first and self.may_begin and word in words.PRESENT
        past = word in words.PAST
        passive = past and self.since_auxiliary < _AUXILIARY_REACH
        open_ = self.negated or self.doubtful or self.question
        if open_ or passive or self.article:
            self.relation = None
        else:
            self.relation = words.PAST[word] if past else words.PRESENT[word]
        self.only_directly = past and (not self.subject or self.only_article)
        self.distance, self.label = 0, False

    def _read_between(self, word: str) -> None:
        self.distance += 1
        too_far = self.distance > _FURTHEST or self.only_directly
        named = self.distance == 1 and word in words.NAMED_BY_IT
        if too_far or named or self.negated or self.doubtful or word in words.ENDS_THE_REACH:
            self.relation = None

    def _note_negation(self, word: str) -> None:
        if word in words.TURNS or (word in words.NOT_ONLY and _is_negation(self.previous)):
            self.negated = False
        pair = (self.previous, word) in words.NEGATING_PAIRS
        self.negated = self.negated or pair or _is_negation(word)
        self.previous = word

    def _note_doubt(self, word: str, *, is_month: bool) -> None:
        if word in words.TURNS:
            self.doubtful = False
        asks = not self.subject and word in words.ASKS
        modal = word in words.MODALS and not is_month
        pair = (self.previous, word) in words.DOUBTING_PAIRS
        self.doubtful = self.doubtful or asks or modal or pair or word in words.CONDITIONS

    def _takes_back(self, word: str) -> bool:
        """Whether the word, right after links, negates or doubts their relation."""
        if word in words.NEGATES_WHAT_IT_FOLLOWS:
            return self.after_link
        return (self.after_link or self.comma_after_link) and word in words.CONDITIONS

    def _take_back(self) -> None:
        """Make the relation of the links of the run just read RELATED_TO."""
        for place in range(len(self.links) - self.run, len(self.links)):
            taken_back = Link(RELATED_TO, self.links[place].link.target_id)
            self.links[place] = replace(self.links[place], link=taken_back)

    def _end_reach(self) -> None:
        self.relation = None
        self.comma_after_link = False


def _is_negation(word: str) -> bool:
    return word in words.NEGATIONS or word.endswith("n't")
