"""The tools of every profile: add and supersede memories, search, read, see pending work."""

from typing import Any

from concord.dissonance.v1 import dissonance_pb2
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import graph_pb2, memory_pb2, space_pb2
from concord.search.v1 import search_pb2

from concord_mcp.tool import Argument, Json, Shape, Tool
from concord_mcp.tools.extracting import state_facts
from concord_mcp.tools.notes import (
    after_adding,
    after_check,
    after_searching,
    after_weighing,
    what_is_stated,
)
from concord_mcp.tools.parts import (
    CONFLICT,
    EDGE,
    MEMORY,
    NAMES_OF_ENDS,
    PROVENANCE,
    RECORD,
    as_of,
    end,
    limit,
    part_of,
    texts,
    truth,
)

IDS = {"type": "array", "items": {"type": "string"}}


def _supersede(request: Any, value: Json) -> None:
    """Append the superseded ids to the text as links, from which graph derives lineage."""
    links = ", ".join(f"[[memory:{each}]]" for each in texts(value))
    if links:
        request.memory.content = f"{request.memory.content.rstrip()}\n\nSupersedes: {links}"


def _speaker(request: Any, value: Json) -> None:
    if not isinstance(value, str):
        raise TypeError
    request.memory.sources.add(speaker=value)


def _extract(request: Any, value: Json) -> None:
    """Checks the value: `before` acts on it."""
    del request
    truth(value)


ADD_MEMORY = Tool(
    "add_memory",
    memory_pb2,
    "MemoryService.AddMemory",
    "Use when you learn something to keep. To correct a memory, state it anew with `supersedes`.",
    (
        Argument("content", "memory.content", required=True),
        Argument("supersedes", schema=IDS, put=_supersede, hint="ids it replaces"),
        Argument("facts", "memory.facts", hint="triples it states, judged exactly"),
        Argument("extract", schema={"type": "boolean"}, put=_extract, hint="also its facts"),
        Argument("kind", "memory.kind"),
        Argument("importance", "memory.importance"),
        Argument("domain", "memory.domain", hint="like work.payroll"),
        Argument("tags", "memory.tags"),
        Argument("speaker", schema={"type": "string"}, put=_speaker),
        Argument("valid_from", "memory.valid_from"),
        Argument("valid_until", "memory.valid_until"),
        Argument("session_id", "memory.session_id"),
        Argument(
            "surfaces_when",
            "memory.surfaces_when",
            hint="unasked: file:GLOB, error:REGEX or words",
        ),
    ),
    {
        "id": "memory.id",
        "created": "created",
        "superseded_by": "memory.supersession.head_ids",
        "gave_way": ("gave_way.items", {"id": "id", "relation": "relation"}),
        "token": "token",
    },
    reads=False,
    before=state_facts,
    notes=after_adding,
    aliases={"statement": "content", "text": "content"},
)


def _include_superseded(request: Any, value: Json) -> None:
    if truth(value):
        request.superseded = search_pb2.SUPERSEDED_MODE_INCLUDE


def _history(request: Any, value: Json) -> None:
    if truth(value):
        request.superseded = search_pb2.SUPERSEDED_MODE_HISTORY


EITHER: Shape = {
    "id": "memory.id|edge.id",
    "content": "memory.content",
    "source": "edge.source.name",
    "relation": "edge.relation",
    "target": "edge.target.name",
    "confidence": "confidence",
    "superseded": "memory.supersession.is_superseded|edge.supersession.is_superseded",
    "conflicts": "#potential_conflicts",
}
"""A result: a memory, or an edge, which has no content."""
ENDS = "supersession.effective_valid_until"
FOUND: Shape = {
    **EITHER,
    "score": "composite_score",
    "why": "explanation.relevance_reason",
    "kind": "memory.kind",
    "sources": ("memory.sources", PROVENANCE),
    "words": "memory.words_origin",
    "valid_from": "memory.supersession.effective_valid_from|edge.supersession.effective_valid_from",
    "valid_until": f"memory.{ENDS}|edge.{ENDS}",
}
FOUND_IN_SHORT: Shape = {
    **EITHER,
    "words": "memory.words_origin",
    "speaker": "memory.sources.speaker",
    "valid_from": "memory.valid_from|edge.valid_from",
    "valid_until": f"memory.{ENDS}|edge.{ENDS}",
}
WEIGHED: Shape = {
    "id": "memory.id",
    "edge_id": "edge.id",
    "says": "statement",
    "score": "ief_score",
    "why": "explanation.relevance_reason",
    "clashes": ("clashes", {"says": "statement", "class": "conflict_class"}),
}
WEIGHED_IN_SHORT = part_of(WEIGHED, "id", "edge_id", "says", "clashes")


SEARCH_MEMORIES = Tool(
    "search_memories",
    search_pb2,
    "SearchService.Search",
    "Use when you need what is remembered. Heed `advice` and `note` before you state it.",
    (
        Argument("query", "query", required=True),
        limit(),
        Argument("domain", "filter.domain"),
        Argument("kinds", "filter.kinds"),
        Argument("tags", "filter.tags_all"),
        Argument("node", "filter.node"),
        Argument("include_superseded", schema={"type": "boolean"}, put=_include_superseded),
        Argument("history", schema={"type": "boolean"}, put=_history),
        as_of(hint="what held then"),
        Argument("session_id", "session_id"),
        Argument("pack_tokens", "pack_tokens"),
        Argument("include_edges", "include_edges"),
        Argument("today", "today"),
        Argument("no_window", "no_window"),
    ),
    {
        "results": ("results", FOUND),
        "context": "context",
        "confidence": "confidence",
        "advice": "stac_lines",
        "next_action": "next_action",
        "index_incomplete": "index_incomplete",
    },
    lists="results",
    instead=("context", "unfit_memory_ids"),
    brief=("results", FOUND_IN_SHORT),
    notes=after_searching,
    other_names=("hybrid_search",),
    aliases={"include_obsolete": "include_superseded", "query_text": "query", "top_k": "limit"},
)

INTEGRATIVE_SEARCH = Tool(
    "integrative_search",
    search_pb2,
    "SearchService.IntegrativeSearch",
    "Use when what defines the agent should weigh before all else.",
    (
        Argument("query", "query", required=True),
        Argument("context_node", "context_node", required=True, hint="like the agent's name"),
        limit("limit", most=50),
        Argument("include_superseded", "include_superseded"),
    ),
    {
        "statements": ("constitutive_statements", {"says": "statement"}),
        "results": ("results", WEIGHED),
        "checked": "check.status",
        "query_id": "feedback_request.query_id",
    },
    lists="results",
    brief=("results", WEIGHED_IN_SHORT),
    notes=after_weighing,
    aliases={"include_obsolete": "include_superseded", "query_text": "query", "top_k": "limit"},
)

GET_MEMORY = Tool(
    "get_memory",
    memory_pb2,
    "MemoryService.GetMemory",
    "Use when you have a memory's id: its text, sources, times and what replaced it.",
    (Argument("id", "id", required=True), as_of()),
    {"status": "status", "memory": ("memory", MEMORY), "similar_ids": "near_names"},
)

GET_NODE_BY_NAME = Tool(
    "get_node_by_name",
    graph_pb2,
    "GraphService.GetNode",
    "Use when you know what a person, place or thing is called.",
    (Argument("name", "name", required=True), as_of()),
    {
        "status": "status",
        "id": "node.id",
        "name": "node.name",
        "label": "node.label",
        "properties": "node.properties",
        "vector_id": "node.vector_id",
        "created": "node.create_time",
        "similar_names": "near_names",
    },
    notes=what_is_stated,
)


GET_EDGE = Tool(
    "get_edge",
    graph_pb2,
    "GraphService.GetEdge",
    "Use when you ask whether two things are related, and since when.",
    (
        end("source", "triple.source"),
        Argument("relation", "triple.relation", required=True),
        end("target", "triple.target"),
        as_of(),
    ),
    {
        "status": "status",
        "edge": ("edge", {**EDGE, "properties": "properties", "created": "create_time"}),
        "similar_names": "near_names",
    },
    aliases=NAMES_OF_ENDS,
)

COUNT_BY_TYPE = Tool(
    "count_by_type",
    space_pb2,
    "SpaceService.CountByType",
    "Use when you ask how much is remembered.",
    (as_of(),),
    {
        name: name
        for name in ("nodes", "edges", "memories", "raw_dialogues", "episodes", "working_memory",
                     "deleted")
    },
)  # fmt: skip

DISSONANCE_CHECK = Tool(
    "dissonance_check",
    dissonance_pb2,
    "DissonanceService.CheckDissonance",
    "Use when you ask where the memory of something disagrees.",
    (
        Argument("context_node", "context_node", required=True, hint="its name"),
        Argument("scope", "scope"),
        Argument("dry_run", "dry_run"),
        RECORD,
    ),
    {
        "status": "status",
        "conflicts": (
            "conflicts",
            {**CONFLICT, "confidence": "confidence", "why": "rule"},
        ),
        "node": "node_status",
        "known_conflict_ids": "earlier_conflict_ids",
        "judged": "coverage.judged",
        "abstained": "coverage.abstained",
    },
    lists="conflicts",
    notes=after_check,
    reads=False,
)


def _pending(request: Any) -> None:
    request.statuses.extend(
        [proposal_pb2.PROPOSAL_STATUS_PENDING, proposal_pb2.PROPOSAL_STATUS_PENDING_REVIEW]
    )
    request.with_summaries = True


SMF_PENDING_PROPOSALS = Tool(
    "smf_pending_proposals",
    proposal_pb2,
    "ProposalService.ListProposals",
    "Use when you ask which changes of what defines the agent await consent.",
    (limit(),),
    {
        "proposals": (
            "proposals",
            {
                "id": "id",
                "number": "number",
                "status": "status",
                "kind": "kind",
                "level": "approval_level",
                "proposer": "proposer",
                "says": "summary",
                "expires": "expire_time",
                "note": "note",
            },
        )
    },
    fixed=_pending,
    lists="proposals",
)

MEMORY_STATUS = Tool(
    "memory_status",
    search_pb2,
    "IndexService.GetIndexStatus",
    "Use when a search misses what you just wrote: how far the index follows.",
    (),
    {
        "following": "following",
        "indexed": "applied_seq",
        "written": "head_seq",
        "memories": "indexed_memories",
        "parked": "parked_changes",
    },
)

TOOLS = (
    ADD_MEMORY,
    SEARCH_MEMORIES,
    INTEGRATIVE_SEARCH,
    GET_MEMORY,
    GET_NODE_BY_NAME,
    GET_EDGE,
    COUNT_BY_TYPE,
    DISSONANCE_CHECK,
    SMF_PENDING_PROPOSALS,
    MEMORY_STATUS,
)
