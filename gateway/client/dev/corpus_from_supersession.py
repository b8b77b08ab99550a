"""Make concord_client/corpus/peps.jsonl from the index of Python Enhancement Proposals.

    python dev/corpus_from_supersession.py SUPERSESSION_FOLDER concord_client/corpus/peps.jsonl

SUPERSESSION_FOLDER holds pep_nodes.jsonl and edges.jsonl. Only facts are taken (number, title,
status, type, topic, date, who replaces whom), none of the proposals' text.

A SUPERSEDES edge becomes a line `Supersedes: [[memory:pep-N]]` in the newer one's content,
whichever side declared it. A REQUIRES edge is no lineage: its line `Requires: [[memory:pep-N]]`
has no relation word of Concord's and so links as RELATED_TO. The index has no UPDATES between
PEPs. Supersession is checked to be free of cycles, as the graph would refuse one.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TypedDict

from concord.type.v1 import type_pb2
from concord_concepts import extract, normalise
from google.protobuf.json_format import MessageToDict


class Record(TypedDict):
    """A line of pep_nodes.jsonl, as far as it is used."""

    id: str
    num: int
    title: str
    status: str
    type: str
    topic: str | None
    date: str


class Edge(TypedDict):
    """A line of edges.jsonl."""

    corpus: str
    relation: str
    new: str
    old: str


Links = Mapping[str, Mapping[int, list[int]]]


def main(folder: Path, target: Path) -> None:
    """Write the corpus, one memory per line, by number."""
    records: list[Record] = [json.loads(line) for line in _lines_of(folder / "pep_nodes.jsonl")]
    edges: list[Edge] = [json.loads(line) for line in _lines_of(folder / "edges.jsonl")]
    links = _links(edge for edge in edges if edge["corpus"] == "pep")
    TopologicalSorter(links["SUPERSEDES"]).prepare()
    lines = [
        json.dumps(MessageToDict(_memory(record, links)), ensure_ascii=False)
        for record in sorted(records, key=lambda record: record["num"])
    ]
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _lines_of(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def _links(edges: Iterable[Edge]) -> Links:
    """Return relation -> newer number -> older numbers, ascending."""
    links: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for edge in edges:
        newer, older = (int(edge_id.removeprefix("pep:")) for edge_id in (edge["new"], edge["old"]))
        links[edge["relation"]][newer].append(older)
    return {
        relation: {newer: sorted(set(older)) for newer, older in by_newer.items()}
        for relation, by_newer in links.items()
    }


def _memory(record: Record, links: Links) -> type_pb2.Memory:
    number, title = record["num"], _title(record["title"])
    topics = record["topic"].split(", ") if record["topic"] else []
    created = datetime.strptime(record["date"], "%d-%b-%Y").replace(tzinfo=UTC)
    memory = type_pb2.Memory(
        id=f"pep-{number}",
        external_id=f"pep:{number}",
        kind=type_pb2.MEMORY_KIND_FACT,
        domain="python.pep",
        category="pep",
        content="\n".join([_sentence(record, title, topics, created), *_lines(record, links)]),
        concepts=_concepts(number, title, topics),
        tags=[_tag(word) for word in (record["status"], record["type"], *topics)],
        sources=[type_pb2.Source(file=f"pep-{number:04}", trust=type_pb2.TRUST_LEVEL_VERIFIED)],
    )
    memory.valid_from.FromDatetime(created)
    return memory


def _sentence(record: Record, title: str, topics: list[str], created: datetime) -> str:
    about = f" on {' and '.join(topics).lower()}" if topics else ""
    article = "An" if record["type"].startswith("I") else "A"
    day = f"{created.day} {created:%B %Y}"
    return (
        f"PEP {record['num']}: {_ended(title)} {article} {record['type']} proposal{about},"
        f" created on {day}. Status: {_ended(record['status'])}"
    )


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith(("?", "!", ".")) else f"{sentence}."


def _lines(record: Record, links: Links) -> Iterator[str]:
    for relation, word in (("SUPERSEDES", "Supersedes"), ("REQUIRES", "Requires")):
        older = links[relation].get(record["num"], [])
        if older:
            yield f"{word}: " + ", ".join(f"[[memory:pep-{number}]]" for number in older)


def _concepts(number: int, title: str, topics: list[str]) -> list[str]:
    found = [f"pep {number}", *extract(title), *map(normalise, topics)]
    return list(dict.fromkeys(found))


def _tag(word: str) -> str:
    return "-".join(re.findall(r"\w+", word.lower()))


def _title(title: str) -> str:
    """Turn reStructuredText into Markdown: ``x`` to `x`, and escapes away."""
    parts = title.split("``")
    parts[::2] = [re.sub(r"\\(\s|(.))", r"\2", part) for part in parts[::2]]
    return "`".join(parts)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
