"""Two spaces with the same names never see each other through any method.

The walk is over the descriptors: a method that is new is walked as soon as it has its cases.
"""

import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import fields, replace
from pathlib import Path

import grpc
import pytest
import pytest_asyncio
from concord.graph.v1 import (
    conflict_pb2,
    dialogue_pb2,
    episode_pb2,
    feed_pb2,
    graph_pb2,
    lineage_pb2,
    memory_pb2,
    record_pb2,
    relation_pb2,
    space_pb2,
    working_memory_pb2,
)
from concord.search.v1 import health_pb2, search_pb2, suggestion_pb2
from concord.type.v1 import type_pb2
from contract_cases import CONTRACTS
from contract_descriptors import METHODS, carries_request_id, permission
from contract_governance import ledger_of, records
from contract_homes import Home, Template, edge_said, nowhere, paged
from contract_live import (
    FOLLOWER,
    SERVICE_SCOPES,
    Answer,
    Live,
    Request,
    full_name,
    member,
)
from contract_search import whole_live, written_live
from google.protobuf.json_format import MessageToJson, ParseDict
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from haunting import haunt, haunt_ledger

OF_ONE_SPACE = {"conflict:write", "granted:write", "record:all"}
OF_NO_SPACE = SERVICE_SCOPES - OF_ONE_SPACE | {"spaces:write", "spaces:list"}
"""Permissions of services that follow all spaces, and of operators, who make and delete them."""
CLIENTS = [name for name, each in METHODS.items() if permission(each) not in OF_NO_SPACE]
NOTED = {
    full_name(each)
    for each in (
        *("PutRecords", "AddRecall", "SetRecallLog", "SetCheckSettings", "EraseQueryText"),
        *("EraseSelection", "SetClaimSettings", "UndoOperations"),
    )
}
"""Writes of services without a request id, which have a test of their own."""
WRITES = [name for name in CLIENTS if carries_request_id(METHODS[name].input_type)]
OF_THE_INDEX = {full_name("Reindex"), full_name("DropIndexVersion")}
"""Commands that name nothing of a space; their answers tell what the ones before them left."""
ERASES = full_name("EraseProposalWords")
SIGNS_IN = full_name("CreateSignIn")
"""It names nothing of a space, and answers with what nobody could have told before."""
READS = [name for name in CLIENTS if name not in {*WRITES, *NOTED, *OF_THE_INDEX, ERASES, SIGNS_IN}]
RECORD = "concord.graph.v1.ConflictService.RecordConflicts"
SHARED = pytest.mark.asyncio(loop_scope="module")

AGED = type_pb2.AsOf()
AGED.valid_time.FromJsonString("2022-06-01T00:00:00Z")
ADA, ZETA = type_pb2.EdgeEnd(name="Ada"), type_pb2.EdgeEnd(name="Zeta")
ALL = {"include_superseded": True, "page_size": 200}


def more_reads(home: Home) -> dict[str, list[Message]]:
    """Return further requests, by short name: what a stranger's rows could show through."""
    walks = [
        graph_pb2.QueryNeighborsRequest(start=ADA, depth=5, include_resolutions=True, **ALL),  # type: ignore[arg-type] # typed per field
        graph_pb2.QueryNeighborsRequest(start=ADA, as_of=AGED),
        graph_pb2.QueryNeighborsRequest(start=type_pb2.EdgeEnd(id=home.memory_id), depth=3),
    ]
    memory = memory_pb2
    return {
        "GetNode": [
            graph_pb2.GetNodeRequest(name=name) for name in ("Ada", "Acme", "Nobody", "Adda")
        ],
        "GetEdge": [
            graph_pb2.GetEdgeRequest(
                triple=graph_pb2.Triple(source=ADA, relation="WORKS_AT", target=ZETA)
            ),
            graph_pb2.GetEdgeRequest(id=home.rock_id),
        ],
        "ListNodes": [graph_pb2.ListNodesRequest(page_size=200)],
        "ListEdges": [graph_pb2.ListEdgesRequest(page_size=200)],
        "ListOperations": [
            space_pb2.ListOperationsRequest(page_size=500),
            space_pb2.ListOperationsRequest(principal="agent-1", since=Timestamp(seconds=1)),
        ],
        "QueryNeighbors": [*walks],
        "FindPath": [graph_pb2.FindPathRequest(start=ADA, end=ZETA, max_depth=10)],
        "FollowRelations": [
            relation_pb2.FollowRelationsRequest(start=ADA, relations=["WORKS_AT", relation])
            for relation in ("WORKS_AT", "NOBODY_HOLDS")
        ],
        "GetMemory": [
            memory.GetMemoryRequest(id="shared/ones"),
            memory.GetMemoryRequest(external_id="ext-2"),
            *(
                memory.GetMemoryRequest(id=i)
                for i in (home.gone_id, home.creed_id, home.erased_id, "shared/one")
            ),
            memory.GetMemoryRequest(external_id="ext-1"),
        ],
        "GetEraseReceipt": [memory_pb2.GetEraseReceiptRequest(memory_id=home.erased_id)],
        "ListMemories": [
            memory.ListMemoriesRequest(),
            memory.ListMemoriesRequest(filter=memory.MemoryFilter(tag="taste"), **ALL),  # type: ignore[arg-type] # typed per field
            memory.ListMemoriesRequest(filter=memory.MemoryFilter(domain="people"), **ALL),  # type: ignore[arg-type] # typed per field
            memory.ListMemoriesRequest(filter=memory.MemoryFilter(session_id="s-1")),
        ],
        "ListDialogue": [dialogue_pb2.ListDialogueRequest(session_id="talk", as_of=AGED)],
        "ListEpisodes": [
            episode_pb2.ListEpisodesRequest(skip=1),
            episode_pb2.ListEpisodesRequest(session_id="elsewhere"),
            episode_pb2.ListEpisodesRequest(session_id="walk"),
        ],
        "ListWorkingMemory": [working_memory_pb2.ListWorkingMemoryRequest(stale=True)],
        "Search": [*searches()],
        "IntegrativeSearch": [
            search_pb2.IntegrativeSearchRequest(
                query="Ada likes what",
                context_node="Ada",
                include_superseded=True,
                limit=50,
                peek=True,
            )
        ],
        "SuggestProactively": [
            suggestion_pb2.SuggestProactivelyRequest(snippet="Ada likes what", limit=10)
        ],
        "AssessHealth": [
            health_pb2.AssessHealthRequest(
                statuses=type_pb2.HealthStatus.values()[1:], kinds=type_pb2.MemoryKind.values()[1:]
            )
        ],
        "FindSimilar": [
            search_pb2.FindSimilarRequest(text="Ada likes", include_superseded=True, limit=100)
        ],
        "GetMemoryHistory": [memory.GetMemoryHistoryRequest(id="shared/one")],
        "GetLineage": [
            lineage_pb2.GetLineageRequest(id=i) for i in ("shared/one", home.edge_id, home.creed_id)
        ],
    }


def searches() -> Iterator[search_pb2.SearchRequest]:
    """Yield searches in every mode, and with filters."""
    for mode in search_pb2.SupersededMode.values():
        yield search_pb2.SearchRequest(query="Ada likes what", superseded=mode, page_size=100)
    for words in (
        *({"tags_any": ["taste"]}, {"domain": "people"}, {"session_id": "s-1"}),
        *({"node": "Ada"}, {"none_of": [{"node": "Ada"}]}),
    ):
        yield ParseDict(
            {"query": "Ada", "filter": words, "superseded": "SUPERSEDED_MODE_INCLUDE"},
            search_pb2.SearchRequest(),
        )


def more_writes(method: str, home: Home) -> list[Message]:
    """Return writes that find what they ask for there already, and so show it as it is."""
    edge = edge_said("WORKS_AT", "Zeta", valid_from="2024-01-01T00:00:00Z")
    known = [
        type_pb2.Memory(content="I keep promises (a)"),
        type_pb2.Memory(content=f"Ada likes tea ({home.space})"),
        type_pb2.Memory(id="shared/one", content="Something else"),
        type_pb2.Memory(external_id="ext-1", content="Something else"),
    ]
    found: dict[str, list[Message]] = {
        "UpsertNode": [
            graph_pb2.UpsertNodeRequest(request_id="known", node=type_pb2.Node(name="Ada"))
        ],
        "UpsertEdge": [graph_pb2.UpsertEdgeRequest(request_id="known", edge=edge)],
        "AddMemory": [
            memory_pb2.AddMemoryRequest(request_id=f"known {place}", memory=memory)
            for place, memory in enumerate(known)
        ],
    }
    return found.get(method.rpartition(".")[2], [])


def reads(method: str, template: Template) -> Iterator[Request]:
    """Yield every read of a method: its case, more of them, and the pages of both homes."""
    a, short = template.a, method.rpartition(".")[2]
    yield CONTRACTS[method].request(a)
    yield from more_reads(a).get(short, [])
    for name in paged(a).keys() & {short, method}:
        for home in (a, template.b):
            page = paged(a)[name]
            page.page_token = home.page_tokens[name]
            yield page


async def asked(live: Live, template: Template, method: str) -> list[Answer]:
    """Return what A is answered to every read of a method."""
    return [
        await live.ask(
            CONTRACTS[method].caller(template.a), method, request, CONTRACTS[method].replies
        )
        for request in reads(method, template)
    ]


def told(answers: list[Answer]) -> list[tuple[str, list[bytes]]]:
    """Return what answers say, to the byte; but for the ids that name searches."""
    for reply in (reply for each in answers for reply in each.replies):
        if "query_id" in reply.DESCRIPTOR.fields_by_name:
            reply.ClearField("query_id")
    return [
        (each.reason, [reply.SerializeToString(deterministic=True) for reply in each.replies])
        for each in answers
    ]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def alone(
    template: Template, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Live]:
    """Every service over A's home, the only one there."""
    store = template.copy(tmp_path_factory.mktemp("alone"), both=False)
    async with whole_live(store, template.enrolment) as live:
        yield live


@pytest.fixture(scope="module")
def twins(template: Template, tmp_path_factory: pytest.TempPathFactory) -> Template:
    """A's home and its twin, which has the very same ids, to copy."""
    store = template.copy(tmp_path_factory.mktemp("twins"), both=False)
    haunt(store)
    haunt_ledger(ledger_of(store))
    return replace(template, both=store)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def haunted(twins: Template, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Live]:
    """Every service over A's home and its twin."""
    store = twins.copy(tmp_path_factory.mktemp("haunted"))
    async with whole_live(store, twins.enrolment) as live:
        yield live


@SHARED
@pytest.mark.parametrize("method", READS)
async def test_a_read_is_the_same_to_the_byte_without_the_other_space(
    method: str, template: Template, alone: Live, kept: Live, haunted: Live
) -> None:
    """G13: with equal names, ids and keys in B, A reads as if B had never been."""
    expected = told(await asked(alone, template, method))

    assert expected == told(await asked(kept, template, method))
    assert expected == told(await asked(haunted, template, method))


@pytest.mark.parametrize("method", WRITES)
async def test_a_write_ends_the_same_without_the_other_space(
    method: str, template: Template, twins: Template, tmp_path: Path
) -> None:
    """G13, G4, M5: neither B's things nor B's open grant change what A may write, which changes
    nothing of B; and its request id, used by a principal of B, is another request's."""
    contract, a, b = CONTRACTS[method], template.a, template.b

    async def written(live: Live) -> list[str]:
        requests = [contract.request(a), *more_writes(method, a)]
        answers = [await live.ask(contract.caller(a), method, request) for request in requests]
        assert answers[0].refusal is None
        return masked_ids("".join(map(masked, answers)) + await whole(live, "a"), a)

    async with written_live(
        method, template.copy(tmp_path, both=False), template.enrolment
    ) as live:
        alone = await written(live)
    async with written_live(method, twins.copy(tmp_path), template.enrolment) as live:
        assert alone == await written(live)
    async with written_live(method, template.copy(tmp_path), template.enrolment) as live:
        async with b_untouched(live):
            assert alone == await written(live)
        assert (await live.ask(contract.caller(b), method, contract.request(b))).refusal is None


@SHARED
@pytest.mark.parametrize("method", [*READS, *WRITES])
async def test_an_id_of_the_other_space_is_like_one_that_never_was(
    method: str, template: Template, kept: Live, tmp_path: Path
) -> None:
    """G13: A cannot tell B's id from a random one, by reply, reason or effect, and changes nothing
    of B by it."""
    contract, lost = CONTRACTS[method], nowhere(template.b)

    async def tried(live: Live, home: Home) -> tuple[str, bool]:
        who = contract.caller(template.a)
        answer = await live.ask(who, method, contract.request(home), contract.replies)
        return masked(answer) + await whole(live, "a"), answer.refusal is not None

    def furnished() -> AbstractAsyncContextManager[Live]:
        return written_live(method, template.copy(tmp_path), template.enrolment)

    if method in READS:
        async with b_untouched(kept):
            (theirs, _), (random, _) = await tried(kept, template.b), await tried(kept, lost)
    else:
        async with furnished() as live, b_untouched(live):
            before = await whole(live, "a")
            theirs, refused = await tried(live, template.b)
            if untouched := refused and theirs.endswith(before):
                random, _ = await tried(live, lost)
        if not untouched:  # what was written, or is on record, would show in the second reply
            async with furnished() as live:
                random, _ = await tried(live, lost)
    for each, never in zip(template.b.ids(), lost.ids(), strict=True):
        random = random.replace(never, each)

    assert masked_ids(theirs, template.b) == masked_ids(random, template.b)


async def test_what_services_note_is_of_one_space(template: Template, tmp_path: Path) -> None:
    """G13 D11: how far B was judged and what its models cost is nothing of A's."""
    async with written_live(full_name("GetRecords"), template.copy(tmp_path), {}) as live:

        async def noted(home: Home) -> str:
            who = CONTRACTS[full_name("GetRecords")].caller(home)
            asked = record_pb2.GetRecordsRequest(names=[record_pb2.RecordName(kind="of_tests")])
            return str(await live.tell(who, "GetRecords", asked))

        before = await noted(template.a)
        for method in sorted(NOTED):
            contract = CONTRACTS[method]
            request = contract.request(template.b)
            assert isinstance(request, Message)
            await live.tell(contract.caller(template.b), method, request)

        assert await noted(template.a) == before
        assert await noted(template.b) != before


async def test_words_of_proposals_are_erased_in_one_space(
    template: Template, tmp_path: Path
) -> None:
    """G13 M4: a proposal of B is to A one that never was, and keeps its words."""
    request = CONTRACTS[ERASES].request(template.b)
    async with written_live(ERASES, template.copy(tmp_path), template.enrolment) as live:
        theirs = await live.ask(member(template.a.space), ERASES, request)
        own = await live.ask(member(template.b.space), ERASES, request)

    assert theirs.reason == "ERROR_REASON_ITEM_NOT_FOUND"
    assert own.replies[0].erased_count == 1


@SHARED
async def test_revisions_are_of_the_space_that_is_named(template: Template, kept: Live) -> None:
    """G13: whoever follows all spaces reads none of B's memories as A's."""
    refs = [feed_pb2.RevisionRef(id=each) for each in (template.b.old_id, template.b.memory_id)]
    asked = [feed_pb2.BatchGetRevisionsRequest(space=space, refs=refs) for space in "ab"]
    ours, theirs = [await kept.tell(FOLLOWER, "BatchGetRevisions", each) for each in asked]

    assert [each.HasField("memory") for each in ours.revisions] == [False, False]
    assert [each.memory.id for each in theirs.revisions] == [each.id for each in refs]


@SHARED
async def test_a_search_goes_on_in_its_own_space(alone: Live, kept: Live) -> None:
    """G13: the page token of B's search gives A a page of A's own."""
    first = search_pb2.SearchRequest(query="Ada likes", page_size=1, peek=True)
    token = (await kept.tell(member("b"), "Search", first)).next_page_token
    second = search_pb2.SearchRequest(query="Ada likes", page_size=1, peek=True, page_token=token)

    assert token
    assert told([await kept.ask(member("a"), "Search", second)]) == told(
        [await alone.ask(member("a"), "Search", second)]
    )


@pytest.mark.parametrize("method", WRITES)
async def test_an_etag_of_the_other_space_opens_nothing(
    method: str, template: Template, tmp_path: Path
) -> None:
    """Design 3: an etag speaks for one item, not for its namesake in another space."""
    a, b = template.a, template.b
    etags = {f.name: getattr(b, f.name) for f in fields(Home) if f.name.endswith("_etag")}
    request = CONTRACTS[method].request(replace(a, **etags))
    if request == CONTRACTS[method].request(a):
        return  # the method takes no etag
    store = template.copy(tmp_path)
    async with written_live(method, store, template.enrolment) as live:
        answer = await live.ask(CONTRACTS[method].caller(a), method, request)

    if method == RECORD:  # says so of each finding
        (finding,) = answer.reply.findings
        assert finding.outcome == conflict_pb2.FINDING_OUTCOME_STALE
        return
    assert answer.code in {grpc.StatusCode.ABORTED, grpc.StatusCode.FAILED_PRECONDITION}
    assert answer.reason in {"ERROR_REASON_ETAG_MISMATCH", "ERROR_REASON_GRANT_INVALID"}


@asynccontextmanager
async def b_untouched(live: Live) -> AsyncIterator[None]:
    """Fail if anything of B is otherwise after what is done within, or B's records went on."""
    before = await records(live, "b"), await whole(live, "b")
    yield
    assert before == (await records(live, "b"), await whole(live, "b")), "B was written to"


async def whole(live: Live, space: str) -> str:
    """Return everything that a client can list of a space."""
    everything: dict[str, Callable[[], Message]] = {
        "ListNodes": lambda: graph_pb2.ListNodesRequest(page_size=200),
        "ListEdges": lambda: graph_pb2.ListEdgesRequest(page_size=200),
        "ListMemories": lambda: memory_pb2.ListMemoriesRequest(
            include_superseded=True, page_size=200
        ),
        "ListWorkingMemory": working_memory_pb2.ListWorkingMemoryRequest,
        "ListEpisodes": episode_pb2.ListEpisodesRequest,
        "CountByType": space_pb2.CountByTypeRequest,
        "ExportSpace": space_pb2.ExportSpaceRequest,
    }
    told = [
        masked(await live.ask(member(space), full_name(name), request()))
        for name, request in everything.items()
    ]
    return "".join(told)


_ETAG = re.compile(r'("(?:etag|token|next_page_token)": )"[^"]*"')
# what a proposal signs names ids, and an undo draws its own salt
_SIGNED = re.compile(r'("canonical": |"request_id": |"secret": )"[^"]{20,}"')
# as the others, an id of a key; what a key's record has of its own is masked with it
_KEY_ID = re.compile(r'("id": )"[0-9a-f]{12}"')
_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
_MEMBERS = re.compile(r"[][{},] ?")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def masked(answer: Answer) -> str:
    """Return an answer as text without etags and tokens, whose bytes hang on generated ids."""
    if answer.refusal is not None:
        return f"{answer.refusal} {answer.refusal.metadata}\n"
    replies = [
        MessageToJson(r, preserving_proto_field_name=True, indent=None) for r in answer.replies
    ]
    said = _KEY_ID.sub(r'\1"*"', _ETAG.sub(r'\1"*"', "\n".join(replies)))
    return _SIGNED.sub(r'\1"*"', said)


def masked_ids(text: str, home: Home) -> list[str]:
    """Return what a text says, in no order, in which only the ids of a home still stand.

    Nor do digests, since contents name ids.
    """
    known = set(home.ids())
    text = _DIGEST.sub("*", text)
    text = _UUID.sub(lambda found: found[0] if found[0] in known else "*", text)
    return sorted(_MEMBERS.split(text))
