"""The judge of texts over a cross-encoder for natural-language inference in a local folder.

The folder holds `model.onnx` (inputs `input_ids`, `attention_mask` and, where it has them,
`token_type_ids`; output: one row of logits), `tokenizer.json`, and `config.json`, whose `id2label`
names a label "contradiction". Only a contradiction that the model finds in both orders counts:
entailment and neutrality show nothing about the times at which the sentences held.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from concord_models.budget import Budget
from tokenizers import Tokenizer

from concord_dissonance.domain.errors import JudgeUnavailable
from concord_dissonance.domain.shown import as_sentence
from concord_dissonance.domain.sides import Side
from concord_dissonance.domain.verdicts import (
    Abstained,
    Abstention,
    ConflictClass,
    ConflictType,
    Judge,
    Reason,
    Verdict,
)

MOST_TOKENS = 512
SURE = 0.95
"""Least probability of a contradiction that counts: the lower one of the two orders."""


class OnnxNli:
    """A judge of pairs of texts (port `TextJudge`)."""

    kind = Judge.NLI

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        """Load the model. Raises `JudgeUnavailable`: its text says what the folder lacks."""
        try:
            labels = json.loads((folder / "config.json").read_text("utf-8"))["id2label"]
            self._contradiction = next(
                int(place) for place, name in labels.items() if name.lower() == "contradiction"
            )
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            self._session = onnxruntime.InferenceSession(
                str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
        except StopIteration as error:
            raise JudgeUnavailable(f"{folder}/config.json names no label contradiction") from error
        # The libraries raise bare Exception and types of their own for an unreadable file.
        except Exception as error:
            raise JudgeUnavailable(f"{folder} holds no usable inference model: {error}") from error
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._inputs = {given.name for given in self._session.get_inputs()}

    def questions(self, first: Side, second: Side) -> Sequence[int]:
        """Return no questions: a local model is not asked over a network."""
        del first, second
        return ()

    async def judge(self, first: Side, second: Side, budget: Budget) -> Verdict | Abstention:
        """Judge two texts; takes nothing from the budget."""
        del budget
        sure = await asyncio.to_thread(self._least, as_sentence(first), as_sentence(second))
        if sure < SURE:
            return Abstention(Abstained.UNSURE)
        return Verdict(
            ConflictClass.CONTRADICTION, Judge.NLI, Reason.MODEL, sure, type=ConflictType.FACTUAL
        )

    async def close(self) -> None:
        """Do nothing: a local model has no connections."""

    def _least(self, first: str, second: str) -> float:
        """Return the lower one of both orders' probabilities of a contradiction."""
        return min(self._probability(first, second), self._probability(second, first))

    def _probability(self, premise: str, hypothesis: str) -> float:
        encoded = self._tokenizer.encode(premise, hypothesis)
        given = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        rows = {name: np.array([given[name]], dtype=np.int64) for name in self._inputs}
        logits = np.asarray(self._session.run(None, rows)[0], dtype=np.float64)[0]
        weights = np.exp(logits - logits.max())
        return float(weights[self._contradiction] / weights.sum())
