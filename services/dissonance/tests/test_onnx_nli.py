"""A language-inference model in a local folder as a judge."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from concord_dissonance.adapters.onnx_nli.judge import OnnxNli
from concord_dissonance.domain.errors import JudgeUnavailable
from concord_dissonance.domain.shown import as_sentence
from concord_dissonance.domain.sides import Kind, Micros, Side
from concord_dissonance.domain.verdicts import Abstained, Abstention, ConflictClass, Judge, Verdict
from concord_models.budget import Budget, Cost
from concord_testing.daily_cost import Day
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

Array = np.ndarray[tuple[int, ...], np.dtype[Any]]

WORDS = {"[UNK]": 0, "[SEP]": 1, "opposite": 2, "later": 3, "2024": 4, "plan": 5}
LABELS = {"0": "entailment", "1": "neutral", "2": "contradiction"}


FREE = Budget(Cost(), Cost(), Day(), micros_per_1000_tokens=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny real model: "opposite", "2024" or "plan" on either side contradicts, "later" only
    on the second."""
    always, second = np.zeros((2, len(WORDS), 3), np.float32)
    always[WORDS["[UNK]"], 0] = 1
    for word, weight in (("opposite", 9), ("2024", 19), ("plan", 9)):
        always[WORDS[word], 2] = weight
    second[WORDS["later"], 2] = 9
    size = ["rows", "tokens"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, size)
        for name in ("input_ids", "token_type_ids")
    ]
    nodes = [
        helper.make_node("Gather", ["always", "input_ids"], ["of_all"]),
        helper.make_node("Gather", ["second", "input_ids"], ["of_second"]),
        helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["types", "last"], ["column"]),
        helper.make_node("Mul", ["of_second", "column"], ["of_place"]),
        helper.make_node("Add", ["of_all", "of_place"], ["each"]),
        helper.make_node("ReduceSum", ["each", "middle"], ["logits"], keepdims=0),
    ]
    constants: dict[str, Array] = {
        "always": always,
        "second": second,
        "last": np.array([2], np.int64),
        "middle": np.array([1], np.int64),
    }
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["rows", 3])
    initializers = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, [output], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(tmp_path / "model.onnx"))
    tokenizer = Tokenizer(WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="$A [SEP]", pair="$A [SEP] $B:1 [SEP]:1", special_tokens=[("[SEP]", 1)]
    )
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text(json.dumps({"id2label": LABELS}))
    return tmp_path


def side(text: str) -> Side:
    """A fact."""
    return Side(text, Kind.FACT, text)


async def test_a_contradiction_in_both_orders_counts(folder: Path) -> None:
    """D4 What contradicts in both orders is asserted, with the lower probability."""
    verdict = await OnnxNli(folder).judge(side("plain"), side("opposite"), FREE)

    assert isinstance(verdict, Verdict)
    assert (verdict.conflict, verdict.judge) == (ConflictClass.CONTRADICTION, Judge.NLI)
    assert 0.95 <= verdict.confidence < 1


@pytest.mark.parametrize("texts", [("plain", "later"), ("later", "plain"), ("plain", "words")])
async def test_what_holds_in_one_order_alone_is_an_abstention(
    folder: Path, texts: tuple[str, str]
) -> None:
    """D2 D4 Swapping a pair changes nothing: what does not hold in both orders is not said."""
    said = await OnnxNli(folder).judge(side(texts[0]), side(texts[1]), FREE)

    assert said == Abstention(Abstained.UNSURE)


MARCH = Micros(1_709_251_200_000_000)


@pytest.mark.parametrize(
    "known",
    [
        {"sources": frozenset({"opposite"}), "speakers": frozenset({"opposite"})},
        {"valid_from": MARCH},
        {"valid_until": MARCH},
        {"kind": Kind.PLAN},
    ],
)
async def test_the_model_sees_who_said_it_when_and_as_what(
    folder: Path, known: dict[str, Any]
) -> None:
    """D4 Of the same words it says otherwise; of a file, or of the time of recording, it does not
    hear."""
    plain = replace(side("plain"), sources=frozenset({"opposite"}), written=MARCH)

    said = [
        await OnnxNli(folder).judge(side("words"), each, FREE)
        for each in (plain, replace(side("plain"), **known))
    ]

    assert said[0] == Abstention(Abstained.UNSURE)
    assert isinstance(said[1], Verdict)


def test_a_side_is_one_sentence_of_what_is_known() -> None:
    """D4 A midnight is a date; a fact of nobody and of no time is its text."""
    moved = side("I moved to Bremen.")
    ada = replace(moved, speakers=frozenset({"Ada"}))
    spring = replace(ada, valid_from=MARCH, valid_until=Micros(MARCH + 5_400_000_000))

    assert [
        as_sentence(each) for each in (moved, ada, spring, replace(spring, kind=Kind.PLAN))
    ] == [
        "I moved to Bremen.",
        "Ada: I moved to Bremen.",
        "Ada (2024-03-01 until 2024-03-01 01:30): I moved to Bremen.",
        "Ada (plan, 2024-03-01 until 2024-03-01 01:30): I moved to Bremen.",
    ]
    assert as_sentence(replace(moved, valid_until=MARCH)) == "until 2024-03-01: I moved to Bremen."


def without_label(folder: Path) -> None:
    """A model for something else."""
    (folder / "config.json").write_text('{"id2label": {"0": "positive", "1": "negative"}}')


def without_model(folder: Path) -> None:
    """A folder that lacks the model."""
    (folder / "model.onnx").unlink()


def with_garbage(folder: Path) -> None:
    """A file that is no model."""
    (folder / "model.onnx").write_bytes(b"garbage")


@pytest.mark.parametrize("spoil", [without_label, without_model, with_garbage])
def test_an_unusable_folder_is_refused_at_the_start(folder: Path, spoil: object) -> None:
    """D4 A judge that cannot work says so when it is loaded, and names its folder."""
    assert callable(spoil)
    spoil(folder)
    with pytest.raises(JudgeUnavailable, match=str(folder)):
        OnnxNli(folder)
