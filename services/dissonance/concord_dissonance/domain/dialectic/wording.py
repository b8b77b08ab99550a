"""Words for conclusions: templates in `templates/`, filled with the sources' own words as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import resources

from concord_dissonance.domain.dialectic.contradictions import Ambiguity, Clash
from concord_dissonance.domain.dialectic.phrases import PHRASES
from concord_dissonance.domain.dialectic.resolutions import Contradiction, Strategy
from concord_dissonance.domain.dialectic.said import (
    SaidContradiction,
    SaidSynthesis,
    is_constitutive,
)
from concord_dissonance.domain.dialectic.scoped import Scoped
from concord_dissonance.domain.dialectic.synthesis import Conclusions, Described, Synthesis
from concord_dissonance.domain.dialectic.theses import Thesis, WhyAside
from concord_dissonance.domain.verdicts import ConflictClass, Reason

_DENIALS = frozenset({Reason.NEGATION, Reason.ANTONYM})


class Wording:
    """Words the conclusions from some theses, in one language."""

    def __init__(self, language: str, theses: Sequence[Scoped]) -> None:
        self.language, self._theses = language, theses
        self._templates = _templates(language)

    def all_described(
        self,
        found: Sequence[Contradiction],
        said: Sequence[SaidContradiction] = (),
        words: SaidSynthesis | None = None,
    ) -> list[Described]:
        """Put contradictions into words: those of a model, `said` and `words`, where there are any.

        A resolution that involves a constitutive memory has no words of the model.
        """
        by_pair = {each.pair: each for each in said}
        return [
            self._described(
                each,
                by_pair.get((each.clash.first, each.clash.second)),
                words.resolutions[at].explanation
                if words and not is_constitutive(each, self._theses)
                else "",
            )
            for at, each in enumerate(found)
        ]

    def _described(
        self, found: Contradiction, said: SaidContradiction | None, resolution: str
    ) -> Described:
        values = self._values(found.clash.first, found.clash.second)
        name = "denial" if found.clash.verdict.reason in _DENIALS else "value"
        if found.clash.verdict.conflict is ConflictClass.NUANCE:
            name = "contained"
        return Described(
            found,
            said.description if said else self._say(name, **values),
            [*self._resolutions(found, resolution), *(said.resolutions if said else ())],
        )

    def ambiguity(self, found: Ambiguity) -> str:
        """Put an ambiguity into words."""
        return self._say("either", **self._values(found.first, found.second))

    def synthesis(
        self,
        question: str,
        found: Conclusions,
        said: Sequence[SaidContradiction] = (),
        words: SaidSynthesis | None = None,
    ) -> Synthesis:
        """Compose the synthesis of some conclusions, in a model's words where there are any.

        Open contradictions, ambiguities and texts set aside are listed below any model's text.
        """
        described = self.all_described(found.contradictions, said, words)
        text, reasoning = (words.text, words.reasoning) if words else ("", "")
        ambiguities = [self.ambiguity(each) for each in found.ambiguities]
        return Synthesis(
            found,
            described,
            ambiguities,
            "\n".join(self._lines(question, found, described, ambiguities, text)),
            "\n".join(self._reasons(found, described, reasoning)),
            self._say(
                "summary",
                theses=len(found.theses),
                count=len(found.contradictions),
                open=len(found.unresolved),
                confidence=_share(found.confidence),
            ),
            self.language,
        )

    def _lines(
        self,
        question: str,
        found: Conclusions,
        described: Sequence[Described],
        ambiguities: Sequence[str],
        text: str,
    ) -> list[str]:
        disputed = {at for c in found.contradictions for at in (c.clash.first, c.clash.second)}
        disputed |= {at for each in found.ambiguities for at in (each.first, each.second)}
        standing = [self._thesis(t) for at, t in enumerate(found.theses) if at not in disputed]
        resolved = [self._item(d.resolutions[0]) for d in described if d.contradiction.strategy]
        unresolved = [
            line
            for d in described
            if d.contradiction.strategy is None
            for line in (
                self._item(d.description),
                *(self._say("possible", text=each) for each in d.resolutions),
            )
        ]
        aside = [
            self._item(self._say(each.reason.name, agent=each.agent, text=each.text))
            for each in found.set_aside
            if each.reason is not WhyAside.UNSUPPORTED  # these are not a source's words
        ]
        lines = [self._say("question", question=question)] if question else []
        lines += [] if found.theses else [self._say("nothing")]
        lines += [text] if text else []
        for heading, block in (
            ("standing", [] if text else standing),
            ("resolved", [] if text else resolved),
            ("open", unresolved),
            ("ambiguous", [self._item(each) for each in ambiguities]),
            ("aside", aside),
        ):
            lines += [self._say(heading), *block] if block else []
        return lines

    def _reasons(
        self, found: Conclusions, described: Sequence[Described], reasoning: str
    ) -> list[str]:
        if reasoning:
            return [reasoning, self._confidence(found)]
        reasons = [
            self._say(
                "reason",
                number=number,
                text=each.resolutions[0]
                if each.contradiction.strategy
                else self._say("unresolved"),
            )
            for number, each in enumerate(described, 1)
        ]
        return [*reasons, self._confidence(found)]

    def _confidence(self, found: Conclusions) -> str:
        count = len(found.contradictions)
        return self._say(
            "confidence",
            confidence=_share(found.confidence),
            share=_share(found.share_resolved),
            resolved=count - len(found.unresolved),
            count=count,
            mean=_share(found.mean_confidence),
            kept=len(found.kept),
        )

    def _thesis(self, thesis: Thesis) -> str:
        basis = ", ".join(thesis.legal_basis)
        return self._say(
            "thesis",
            claim=thesis.claim,
            agent=thesis.agent,
            confidence=_share(thesis.confidence),
            basis=self._say("basis", basis=basis) if basis else "",
        )

    def _item(self, text: str) -> str:
        return self._say("item", text=text)

    def _resolutions(self, found: Contradiction, applied: str) -> list[str]:
        """Return the applied resolution and the possible ones; of an unresolved one the questions.

        `applied`: the applied resolution in a model's words, or empty.
        """
        clash = found.clash
        if found.strategy is None:
            values = self._values(clash.first, clash.second)
            return [self._say(name, **values) for name in self._asked(clash)]
        rules = [(found.strategy, found.prevailing), *found.alternatives]
        worded = [self._resolution(found, strategy, place) for strategy, place in rules]
        return [applied or worded[0], *worded[1:]]

    def _asked(self, clash: Clash) -> list[str]:
        """Return the templates of the questions about an unresolved contradiction."""
        both = [self._theses[at] for at in (clash.first, clash.second)]
        one, other = (each.time is not None for each in both)
        time = "ask_time" if one == other else "ask_time_b" if one else "ask_time_a"
        rests = any(each.thesis.legal_basis for each in both)
        return [time, "ask_scope", *(["ask_rank"] if rests else []), "ask_value"]

    def _resolution(self, found: Contradiction, strategy: Strategy, prevailing: int | None) -> str:
        pair = found.clash.first, found.clash.second
        if prevailing == found.clash.first:
            pair = pair[1], pair[0]
        return self._say(strategy.name, **self._values(*pair))

    def _values(self, first: int, second: int) -> dict[str, str]:
        """Return the values of the templates' fields for two theses."""
        agents = [self._theses[at].thesis.agent for at in (first, second)]
        both = self._say("both", a=agents[0], b=agents[1])
        values = {"who": both if agents[0] != agents[1] else agents[0]}
        for name, text, at in (("a", "x", first), ("b", "y", second)):
            scoped = self._theses[at]
            thesis = scoped.thesis
            basis = ", ".join(thesis.legal_basis)
            values |= {
                name: thesis.agent,
                text: thesis.claim,
                f"when_{name}": self._say("when", date=_day(scoped)) if _day(scoped) else "",
                f"day_{name}": _day(scoped),
                f"region_{name}": self._region(scoped),
                f"rank_{name}": self._rank(thesis),
                f"context_{name}": self._context(scoped),
                f"basis_{name}": basis or self._say("no_basis"),
            }
        return values

    def _region(self, scoped: Scoped) -> str:
        thesis = scoped.thesis
        return thesis.region or ", ".join(
            PHRASES.regions_as_written(thesis.claim) or thesis.legal_basis
        )

    def _rank(self, thesis: Thesis) -> str:
        said = "" if thesis.authority is None else _share(thesis.authority)
        return (self._say("authority", authority=said) if said else "") + "".join(
            self._say("basis", basis=each) for each in thesis.legal_basis
        )

    def _context(self, scoped: Scoped) -> str:
        return (
            scoped.thesis.context or ", ".join(sorted(scoped.circumstances)) or self._say("general")
        )

    def _say(self, name: str, **values: object) -> str:
        return self._templates[name].format_map(values)


def _day(scoped: Scoped) -> str:
    """Return the first day of a claim; empty when it names none."""
    if scoped.time is None:
        return ""
    return datetime.fromtimestamp(scoped.time / 1e6, UTC).date().isoformat()


def _share(share: float) -> str:
    return f"{share:.2f}"


@cache
def _templates(language: str) -> Mapping[str, str]:
    text = resources.files(__package__).joinpath("templates", f"{language}.txt").read_text("utf-8")
    pairs = (line.partition(" = ") for line in text.splitlines())
    return {name: template for name, _, template in pairs}
