"""Whoever is forgotten whole is in no file, export or new backup; the others are as they were."""

import hashlib
import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from concord.governance.v1 import audit_pb2, proposal_pb2
from concord.graph.v1 import (
    dialogue_pb2,
    episode_pb2,
    erasure_pb2,
    feed_pb2,
    governed_pb2,
    graph_pb2,
    lineage_pb2,
    memory_pb2,
    recall_pb2,
    space_pb2,
    working_memory_pb2,
)
from concord.search.v1 import feedback_pb2, search_pb2
from concord.type.v1 import type_pb2
from concord_client import Client, credentials
from concord_client.credentials import Role
from concord_client.importers.outcome import Draft
from concord_client.importers.upload import Upload
from concord_testing.up_process import Spawned, ran, spawned
from google.protobuf.field_mask_pb2 import FieldMask

WITHIN = 200.0
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_KINDS = (
    *("name", "family", "town", "work", "pet", "query", "vote", "note", "talk"),
    *("episode", "tag", "file", "former", "owns", "about", "context", "proposal", "derived"),
)
_COINED = re.compile(rb"q(?:[%b][%b]){5}x" % (_CONSONANTS.encode(), _VOWELS.encode()))


def coined(number: int) -> str:
    """Return a word of its own for each number: no natural word, and none within another."""
    word = "q"
    for _ in range(5):
        number, place = divmod(number, len(_CONSONANTS) * len(_VOWELS))
        word += _CONSONANTS[place % len(_CONSONANTS)] + _VOWELS[place // len(_CONSONANTS)]
    return f"{word}x"


@dataclass(frozen=True)
class Person:
    """Somebody whose every word is coined. `shared`: somebody else states a fact about them."""

    number: int
    shared: bool = False

    def word(self, kind: str) -> str:
        """Return the person's own word for something."""
        return coined(self.number * len(_KINDS) + _KINDS.index(kind))

    @property
    def name(self) -> str:
        """First name and family name."""
        return f"{self.word('name').title()} {self.word('family').title()}"

    @property
    def words(self) -> frozenset[str]:
        """All words that were planted of the person, in lower case."""
        return frozenset(map(self.word, _KINDS))


def memories_of(person: Person) -> Iterator[type_pb2.Memory]:
    """Yield what is remembered of somebody: said by them, and facts of them."""
    word = person.word
    speaker = type_pb2.Source(speaker=person.name, file=f"{word('file')}.md")
    said = type_pb2.Memory(id=f"m-{person.number}-said", content=f"I come from {word('town')}.")
    said.sources.append(speaker)
    said.tags.append(word("tag"))
    yield said
    fact = type_pb2.Memory(id=f"m-{person.number}-fact", content=f"Works for {word('work')}.")
    fact.facts.add(subject=person.name, relation="WORKS_FOR", object=word("work"))
    yield fact
    about = type_pb2.Memory(
        id=f"m-{person.number}-about", content=f"{person.name} and the {word('about')}."
    )
    yield about
    derived = type_pb2.Memory(
        id=f"m-{person.number}-derived", content=f"In short: {word('derived')}."
    )
    derived.sources.add(memory_ids=[said.id])
    yield derived


def plant(client: Client, person: Person) -> None:
    """Tell all stores of somebody, in every way there is."""
    word, number = person.word, person.number
    for memory in memories_of(person):
        client.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))
    said = client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=f"m-{number}-said")).memory
    said.content = f"I come from {word('town')}, once {word('former')}."
    mask = FieldMask(paths=["content"])
    client.memory.UpdateMemory(memory_pb2.UpdateMemoryRequest(memory=said, update_mask=mask))
    turn = dialogue_pb2.DialogueTurn(speaker=person.name, content=f"Hear of {word('talk')}.")
    request = dialogue_pb2.AppendDialogueRequest(session_id=f"talk-{number}", turns=[turn])
    client.dialogue.AppendDialogue(request)
    edge = type_pb2.Edge(
        source=type_pb2.EdgeEnd(name=person.name),
        relation="OWNS",
        target=type_pb2.EdgeEnd(name=word("owns")),
    )
    edge.properties.update({"pet": word("pet")})
    client.graph.UpsertEdge(graph_pb2.UpsertEdgeRequest(edge=edge))
    episode = episode_pb2.AddEpisodeRequest(
        query=f"Find {person.name}", reward=0.5, reflection=f"It was {word('episode')}."
    )
    client.episode.AddEpisode(episode)
    note = working_memory_pb2.PutWorkingMemoryRequest(content=f"{person.name}: {word('note')}")
    client.working_memory.PutWorkingMemory(note)
    lineage = lineage_pb2.AddLineageRequest(
        relation=type_pb2.LINEAGE_RELATION_CONTRADICTS,
        newer_id=f"m-{number}-fact",
        older_id=f"m-{number}-about",
        context=f"{word('context')} says so",
    )
    client.lineage.AddLineage(lineage)


def ask(client: Client, person: Person) -> None:
    """Search for somebody, and vote: both are kept."""
    query = f"{person.name} {person.word('query')}"
    asked = search_pb2.IntegrativeSearchRequest(query=query, context_node=person.name)
    asked.consistency.at_least_as_fresh = token_of(client)
    found = client.search.IntegrativeSearch(asked)
    client.feedback.SubmitFeedback(
        feedback_pb2.SubmitFeedbackRequest(
            query_id=found.feedback_request.query_id,
            helpfulness=feedback_pb2.HELPFULNESS_HELPFUL,
            reason=f"{person.name} {person.word('vote')}",
        )
    )


def propose(client: Client, person: Person) -> None:
    """Propose to remember more of somebody; nobody answers."""
    memory = type_pb2.Memory(content=f"{person.name} likes {person.word('proposal')}.")
    add = memory_pb2.AddMemoryRequest(memory=memory, request_id=f"{person.number:032d}")
    request = proposal_pb2.CreateProposalRequest(
        action=governed_pb2.GovernedAction(add_memory=add),
        note=f"The meal of {person.name} is named.",
    )
    client.proposals.CreateProposal(request)


def token_of(client: Client) -> str:
    """Return the token of a write that comes after all others."""
    node = type_pb2.Node(name="the last write")
    return client.graph.UpsertNode(graph_pb2.UpsertNodeRequest(node=node)).token


def more_of(person: Person) -> Iterator[type_pb2.Memory]:
    """Yield more than one call erases of what somebody said."""
    for number in range(600):
        memory = type_pb2.Memory(content=f"{person.word('vote')} {number}")
        memory.sources.add(speaker=person.name)
        yield memory


def introduce(client: Client, other: Person, person: Person) -> None:
    """Let somebody else state a fact that is about both."""
    memory = type_pb2.Memory(id=f"m-{other.number}-knows", content="They met.")
    memory.facts.add(subject=other.name, relation="KNOWS", object=person.name)
    client.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))


@contextmanager
def owner(system: Spawned) -> Iterator[Client]:
    """Connect with the owner's key."""
    found = credentials.find(
        url=None,
        api_key=None,
        space="default",
        environ={"CONCORD_DATA": str(system.data)},
        role=Role.ADMIN,
    )
    with Client(found) as client:
        yield client


def everything_of(client: Client, person: Person) -> list[str]:
    """Return all that is remembered of somebody, as it is read."""
    ids = [f"m-{person.number}-{kind}" for kind in ("said", "fact", "about", "derived")]
    requests = [memory_pb2.GetMemoryRequest(id=each, peek=True) for each in ids]
    read = [client.memory.GetMemory(each).memory for each in requests]
    turns = client.dialogue.ListDialogue(
        dialogue_pb2.ListDialogueRequest(session_id=f"talk-{person.number}")
    ).turns
    node = client.graph.GetNode(graph_pb2.GetNodeRequest(name=person.name)).node
    edges = client.graph.QueryNeighbors(
        graph_pb2.QueryNeighborsRequest(start=type_pb2.EdgeEnd(name=person.name))
    )
    return [
        *(each.content for each in (*read, *turns)),
        node.name,
        *sorted(each.edge.relation for each in edges.neighbors),
    ]


def forget(client: Client, person: Person) -> tuple[str, bytes]:
    """Look, and erase what was looked at; return the erasure's id and the receipt's bytes."""
    selection = erasure_pb2.Selection(subject=person.name)
    options = erasure_pb2.ErasureOptions(mentions=True)
    proposals = [
        each.id
        for each in client.proposals.ListProposals(
            proposal_pb2.ListProposalsRequest(page_size=200)
        ).proposals
        if person.name in str(each)
    ]
    if proposals:
        words = proposal_pb2.EraseProposalWordsRequest(proposal_ids=proposals)
        client.proposals.EraseProposalWords(words, timeout=60)
    look = erasure_pb2.PreviewErasureRequest(selection=selection, options=options)
    seen = client.erasure.PreviewErasure(look, timeout=60)
    request = erasure_pb2.EraseSelectionRequest(
        selection=selection, options=options, digest=seen.digest, proposal_ids=proposals
    )
    done = client.erasure.EraseSelection(request, timeout=60)
    while not done.complete:
        done = client.erasure.EraseSelection(request, timeout=60)
    return done.erase_id, receipt_of(client, done.erase_id).receipt


def receipt_of(client: Client, erase_id: str) -> erasure_pb2.GetSelectionReceiptResponse:
    """Read a receipt."""
    request = erasure_pb2.GetSelectionReceiptRequest(erase_id=erase_id)
    return client.erasure.GetSelectionReceipt(request)


def completed(client: Client, erase_ids: Sequence[str]) -> None:
    """Wait until every store has confirmed every erasure."""
    until = time.monotonic() + WITHIN
    for each in erase_ids:
        while not receipt_of(client, each).HasField("complete_time"):
            assert time.monotonic() < until, receipt_of(client, each)
            time.sleep(0.05)


def left_in(folder: Path, words: frozenset[str]) -> dict[str, set[str]]:
    """Return which words stand in which files below a folder, in any case, also as UTF-16."""
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes().replace(b"\0", b"").lower()  # the form of UTF-16, too
            there = {word.decode() for word in _COINED.findall(data)} & words
            if there:
                found[str(path.relative_to(folder))] = there
    return found


def may_be_left(person: Person, receipt: bytes) -> frozenset[str]:
    """Return the words that the receipt lists as staying: of a fact that somebody else states."""
    kept = json.loads(receipt)["kept"]
    assert bool(kept) == person.shared, kept
    assert {each["why"] for each in kept} <= {"SHARED", "NAMED"}
    return frozenset({person.word("name"), person.word("family")}) if kept else frozenset()


def exported(client: Client, folder: Path) -> None:
    """Write both forms of export into a folder."""
    folder.mkdir()
    for form in (space_pb2.EXPORT_FORM_STATE, space_pb2.EXPORT_FORM_FULL):
        parts = client.space.ExportSpace(space_pb2.ExportSpaceRequest(form=form), timeout=60)
        lines = "\n".join(line for part in parts for line in part.lines)
        (folder / str(form)).write_text(lines)


def check(tmp_path: Path, persons: int, others: int, *, all_at_once: bool) -> None:
    """Plant people and others, forget the people, and look for their words everywhere."""
    data = tmp_path / "data"
    people = [Person(number, shared=number % 4 == 3) for number in range(persons)]
    rest = [Person(persons + number) for number in range(others)]
    with spawned(data) as system, owner(system) as client:
        client.recall.SetRecallLog(recall_pb2.SetRecallLogRequest(enabled=True))
        with system.client() as agent:
            for each in (*people, *rest):
                plant(agent, each)
            for place, person in enumerate(people):
                ask(agent, person)
                if person.shared:
                    introduce(agent, rest[place % others], person)
                if place < 5:  # more proposals of one key wait nowhere
                    propose(agent, person)
        before = {each.number: everything_of(client, each) for each in rest}
        planted = left_in(data, people[0].words)
        assert set().union(*planted.values()) == people[0].words, "the search finds words"

        assert (
            ran("backup", "create", str(tmp_path / "old"), environ=system.environ).returncode == 0
        )

        receipts = {}
        erase_ids = []
        for person in people:
            erase_id, receipts[person.number] = forget(client, person)
            erase_ids.append(erase_id)
            if not all_at_once:
                completed(client, [erase_id])
        completed(client, erase_ids)

        gone = {
            each.number: each.words - may_be_left(each, receipts[each.number]) for each in people
        }
        words = frozenset[str]().union(*gone.values())
        assert left_in(data, words) == {}
        exported(client, tmp_path / "exports")
        assert left_in(tmp_path / "exports", words) == {}
        environ = system.environ
        backup = ran("backup", "create", str(tmp_path / "backups"), environ=environ)
        assert backup.returncode == 0, backup.stderr
        assert left_in(tmp_path / "backups", words) == {}
        assert {each.number: everything_of(client, each) for each in rest} == before
        logged = {
            each.item_id: json.loads(each.leaf)["properties"]["digest"]
            for each in client.audit.ListAuditEntries(_selection_entries()).entries
        }
        digests = {hashlib.sha256(each).hexdigest() for each in receipts.values()}
        assert set(logged.values()) == digests
        assert set(logged) == set(erase_ids)
        assert {len(json.loads(each)["backups_before"]) for each in receipts.values()} == {1}
        assert system.stop() == 0
    assert left_in(data, words) == {}


def _selection_entries() -> audit_pb2.ListAuditEntriesRequest:
    return audit_pb2.ListAuditEntriesRequest(
        actions=[audit_pb2.AUDIT_ACTION_SELECTION_ERASED], page_size=200
    )


def test_words_of_forgotten_people_are_nowhere(tmp_path: Path) -> None:
    """M4 Must hold, in small: 4 people and 8 others."""
    check(tmp_path, 4, 8, all_at_once=False)


@pytest.mark.soak
def test_words_of_a_hundred_forgotten_people_are_nowhere(tmp_path: Path) -> None:
    """M4 Must hold: 100 people, and 200 others who are unharmed."""
    check(tmp_path, 100, 200, all_at_once=True)


def test_an_erasure_survives_a_kill(tmp_path: Path) -> None:
    """M4 Killed with SIGKILL in the middle: the same request, sent again, goes on and ends it."""
    data = tmp_path / "data"
    person, other = Person(0), Person(1)
    selection = erasure_pb2.Selection(subject=person.name)
    options = erasure_pb2.ErasureOptions(mentions=True)
    with spawned(data) as system, owner(system) as client:
        with system.client() as agent:
            for each in (person, other):
                plant(agent, each)
            for _ in Upload().send(agent.memory, [Draft(each, "n", 1) for each in more_of(person)]):
                pass
        before = everything_of(client, other)
        look = erasure_pb2.PreviewErasureRequest(selection=selection, options=options)
        seen = client.erasure.PreviewErasure(look, timeout=60)
        request = erasure_pb2.EraseSelectionRequest(
            selection=selection, options=options, digest=seen.digest
        )
        call = client.erasure.EraseSelection.future(request, timeout=60)
        while not _erased(client):
            time.sleep(0.01)
        system.kill()
        assert call.exception() is not None

    with spawned(data) as system, owner(system) as client:
        half = client.erasure.PreviewErasure(look, timeout=60)
        assert half.unfinished_digest == seen.digest
        done = client.erasure.EraseSelection(request, timeout=60)
        while not done.complete:
            done = client.erasure.EraseSelection(request, timeout=60)
        completed(client, [done.erase_id])
        receipt = json.loads(receipt_of(client, done.erase_id).receipt)
        assert len(receipt["erased"]) == sum(not each.kept for each in seen.items)
        assert left_in(data, person.words) == {}
        assert everything_of(client, other) == before
        assert system.stop() == 0


def _erased(client: Client) -> int:
    asked = space_pb2.ListOperationsRequest(types=[feed_pb2.CHANGE_TYPE_ERASED], page_size=100)
    return len(client.space.ListOperations(asked).operations)
