"""The judge of texts over a language model, whose answer is a label and nothing else.

The texts are sent as data. The model is asked in both orders of a pair, and a verdict that depends
on the order becomes an abstention. Its quotes must occur in the texts; only their places are kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from importlib import resources
from typing import Annotated, Literal
from weakref import WeakValueDictionary

from concord_models.budget import Budget
from concord_models.chat import ChatModel, Question
from concord_models.endpoint import BadReply, EndpointRefused, EndpointUnavailable
from concord_reading.tokens import Span
from pydantic import BaseModel, ConfigDict, StringConstraints

from concord_dissonance.domain.errors import JudgeUnavailable
from concord_dissonance.domain.shown import shown
from concord_dissonance.domain.sides import Side
from concord_dissonance.domain.verdicts import (
    Abstained,
    Abstention,
    ConflictClass,
    ConflictType,
    Judge,
    Older,
    Reason,
    Verdict,
)

PROMPT = "judge.v2.md"
MOST_TOKENS = 300
MOST_CHARACTERS = 8_000
"""Most characters of both texts together; the judge abstains from longer pairs."""
CONFIDENCE = 0.75
"""The confidence in a verdict of both orders. Concord has no model, so none was calibrated."""
MOST_CACHED = 10_000

_Quote = Annotated[str, StringConstraints(max_length=2_000)]


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    relation: Literal["none", "evolution", "contradiction", "nuance", "unsure"]
    earlier: Literal["first", "second", "neither"]
    type: Literal["factual", "temporal", "regional", "legal", "methodological"]
    first_words: _Quote
    second_words: _Quote


class OpenAiJudge:
    """A judge of pairs of texts (port `TextJudge`)."""

    kind = Judge.LLM

    def __init__(self, model: ChatModel) -> None:
        """Decisions on the last 10,000 pairs are cached by content, whatever the order of each."""
        self._model = model
        self._prompt = resources.files(__package__).joinpath(PROMPT).read_text("utf-8")
        self._known: OrderedDict[bytes, Verdict | Abstention] = OrderedDict()
        self._asking: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()

    def questions(self, first: Side, second: Side) -> Sequence[int]:
        return [self._question(*each).tokens() for each in ((first, second), (second, first))]

    async def judge(self, first: Side, second: Side, budget: Budget) -> Verdict | Abstention:
        """Judge two texts.

        Raises:
            JudgeUnavailable: no usable answer.
            BudgetSpent: asking would cost more than is left.
        """
        if len(first.text) + len(second.text) > MOST_CHARACTERS:
            return Abstention(Abstained.TOO_LONG)
        data = [json.dumps(shown(each)) for each in (first, second)]
        key = hashlib.sha256("\0".join(sorted(data)).encode()).digest()
        is_swapped = data[0] > data[1]
        async with self._asking.setdefault(key, asyncio.Lock()):
            known = self._known.get(key)
            if known is not None:
                return _turned(known) if is_swapped else known
            said = await self._asked(first, second, budget)
            self._known[key] = _turned(said) if is_swapped else said
        if len(self._known) > MOST_CACHED:
            self._known.popitem(last=False)
        return said

    async def close(self) -> None:
        await self._model.close()

    async def _asked(self, first: Side, second: Side, budget: Budget) -> Verdict | Abstention:
        forward = await self._ask(first, second, budget)
        said = forward
        if isinstance(forward, Verdict):
            backward = await self._ask(second, first, budget)
            if not _is_same_of_both(forward, backward):
                said = Abstention(Abstained.ORDER_DEPENDENT)
        return said

    async def _ask(self, first: Side, second: Side, budget: Budget) -> Verdict | Abstention:
        question = self._question(first, second)
        reserved = await budget.reserve(question.tokens())
        try:
            answer = await self._model.ask(question, lambda said: _verdict(said, first, second))
        except (EndpointUnavailable, EndpointRefused) as error:
            raise JudgeUnavailable(str(error)) from error
        await budget.settle(reserved, answer.tokens, answer.calls)
        return answer.value

    def _question(self, first: Side, second: Side) -> Question[_Said]:
        data = {"first": shown(first), "second": shown(second)}
        return Question(self._prompt, data, _Said, MOST_TOKENS)


def _turned(said: Verdict | Abstention) -> Verdict | Abstention:
    return said.swapped() if isinstance(said, Verdict) else said


def _is_same_of_both(forward: Verdict, backward: Verdict | Abstention) -> bool:
    """Whether a verdict does not depend on the order in which the texts were given."""
    return isinstance(backward, Verdict) and _label(backward.swapped()) == _label(forward)


def _label(verdict: Verdict) -> tuple[ConflictClass, Older]:
    return verdict.conflict, verdict.older


def _verdict(said: _Said, first: Side, second: Side) -> Verdict | Abstention:
    if said.relation == "unsure":
        return Abstention(Abstained.UNSURE)
    if (said.relation == "evolution") == (said.earlier == "neither"):
        raise BadReply("its verdict contradicts itself")
    conflict = ConflictClass(said.relation)
    if conflict is ConflictClass.NONE:
        return Verdict(conflict, Judge.LLM, Reason.MODEL, CONFIDENCE)
    return Verdict(
        conflict,
        Judge.LLM,
        Reason.MODEL,
        CONFIDENCE,
        Older(said.earlier),
        ConflictType(said.type),
        first=(_span(said.first_words, first.text),),
        second=(_span(said.second_words, second.text),),
    )


def _span(words: str, text: str) -> Span:
    start = text.find(words) if words else -1
    if start < 0:
        raise BadReply("its verdict names words that the text does not have")
    return Span(start, start + len(words))
