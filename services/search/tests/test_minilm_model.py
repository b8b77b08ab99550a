"""The built-in model: its files, its check, and that it computes what its card says."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from concord_search.adapters.minilm import weights
from concord_search.adapters.minilm.embedder import MiniLm
from concord_search.adapters.minilm.weights import ModelFiles
from concord_search.domain.errors import EmbeddingUnavailable, ModelMismatch
from concord_search.ports.embedder import Embedder

SERVICE = Path(__file__).parents[1]
GRAPH = SERVICE / "concord_search" / "adapters" / "minilm" / "all-minilm-l6-v2.onnx"


async def test_cosines_are_those_of_the_reference(minilm: Embedder) -> None:
    """Design 4: .943, .257 and .695 on the model card's sentences."""
    rows = await minilm.embed(
        [
            "That is a happy person",
            "That is a very happy person",
            "Today is a sunny day",
            "That is a happy dog",
        ]
    )

    assert (rows @ rows[0])[1:].tolist() == pytest.approx([0.943, 0.257, 0.695], abs=6e-4)


def test_the_graph_is_what_its_script_makes() -> None:
    """S10: the committed graph and the script that makes it agree, byte for byte."""
    pytest.importorskip("onnx", reason="a development dependency")
    script = SERVICE / "dev" / "make_minilm_graph.py"
    spec = importlib.util.spec_from_file_location("make_minilm_graph", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    made = module.build(weights.installed().weights).SerializeToString(deterministic=True)

    assert made == GRAPH.read_bytes()
    assert len(made) < 40_000


def test_wrong_weights_are_refused_in_a_sentence(tmp_path: Path) -> None:
    """Must hold: a wrong model hash says what to do."""
    wrong = tmp_path / "model.safetensors"
    wrong.write_bytes(b"not the model")

    with pytest.raises(ModelMismatch, match="make clean setup") as refused:
        weights.check(wrong)

    assert str(wrong) in str(refused.value)


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (lambda whole: whole[:-1] + bytes([whole[-1] ^ 1]), "SHA-256"),
        (lambda whole: whole[:100_000], "make clean setup"),
    ],
    ids=["one byte changed", "truncated"],
)
async def test_a_damaged_model_does_not_start(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    damaged: Callable[[bytes], bytes],
    said: str,
) -> None:
    """S10, must hold: the weights' SHA-256 is checked at every start; damage is a sentence."""
    real = weights.installed()
    copy = tmp_path / "model.safetensors"
    copy.write_bytes(damaged(real.weights.read_bytes()))
    monkeypatch.setattr(weights, "installed", lambda: ModelFiles(copy, real.tokenizer))
    model = MiniLm()

    with pytest.raises(ModelMismatch, match=said):
        await model.open()
    await model.close()


async def test_it_does_not_answer_before_it_is_open() -> None:
    """Style 7: nothing loads before start."""
    model = MiniLm()

    with pytest.raises(EmbeddingUnavailable):
        await model.embed_query("x")
    await model.close()


async def test_a_query_asked_again_is_the_same_vector(minilm: Embedder) -> None:
    """Queries repeat; the second time costs nothing and gives the same."""
    first = await minilm.embed_query("who is the fox?")
    again = await minilm.embed_query("who is the fox?")

    assert np.array_equal(first, again)
    with pytest.raises(ValueError, match="read-only"):
        again[0] = 1.0
