"""The corpus that comes with the client is what the graph will make of it."""

import os
import subprocess
import sys
from graphlib import TopologicalSorter
from importlib.resources import as_file
from pathlib import Path

import pytest
from concord.type.v1 import type_pb2
from concord_client.corpus import peps
from concord_client.importers.jsonl import read_jsonl
from concord_client.importers.outcome import Draft
from concord_concepts import normalise
from concord_graph.adapters.markdown.links import parse_links
from concord_graph.domain.links import (
    RELATED_TO,
    SUPERSEDES,
    Voice,
    is_memory_id,
    meant_links,
)

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("CONCORD_EVALUATION_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="module")
def memories() -> dict[str, type_pb2.Memory]:
    """The corpus as the importer reads it, by id."""
    with as_file(peps()) as path:
        items = list(read_jsonl(path))
    assert all(isinstance(item, Draft) for item in items)
    return {item.memory.id: item.memory for item in items if isinstance(item, Draft)}


def test_the_corpus_holds_every_proposal_once(memories: dict[str, type_pb2.Memory]) -> None:
    """M6 736 facts with own ids and keys, and nothing but what an importer may state."""
    stated = {
        *("id", "content", "kind", "concepts", "domain", "sources", "external_id", "category"),
        *("tags", "valid_from"),
    }

    assert len(memories) == 736
    assert len({memory.external_id for memory in memories.values()}) == 736
    for memory in memories.values():
        assert is_memory_id(memory.id)
        assert {field.name for field, _ in memory.ListFields()} == stated
        assert len(memory.content) < 400
        assert [normalise(concept) for concept in memory.concepts] == list(memory.concepts)


def test_its_links_are_those_of_the_index(memories: dict[str, type_pb2.Memory]) -> None:
    """M3 T1 Each link of the contents names a proposal; supersession has no cycle."""
    links = {
        memory_id: meant_links(parse_links(memory.content), Voice.IMPORTED)
        for memory_id, memory in memories.items()
    }
    relations = [link.relation for found in links.values() for link in found]
    replaced = {
        memory_id: [link.target_id for link in found if link.relation == SUPERSEDES]
        for memory_id, found in links.items()
    }

    assert all(link.target_id in memories for found in links.values() for link in found)
    assert (relations.count(SUPERSEDES), relations.count(RELATED_TO)) == (47, 39)
    assert len(relations) == 86
    assert set(replaced["pep-566"]) == {"pep-345", "pep-426"}
    TopologicalSorter(replaced).prepare()


def test_the_corpus_is_what_its_script_makes(tmp_path: Path) -> None:
    """M6 Made anew from the index, where that is at hand, the file is the same to the byte."""
    source = DATA / "supersession"
    if not source.is_dir():
        pytest.skip(f"SKIPPED: no data at {source}")
    script = ROOT / "gateway" / "client" / "dev" / "corpus_from_supersession.py"
    made = tmp_path / "peps.jsonl"
    subprocess.run(
        [sys.executable, script, source, made],
        check=True,
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )

    assert made.read_bytes() == peps().read_bytes()
