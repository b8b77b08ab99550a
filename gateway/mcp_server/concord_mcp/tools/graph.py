"""Tools of the profile `graph`: nodes, edges, walks, lineage, revisions and suggestions."""

from typing import Any

from concord.dissonance.v1 import dissonance_pb2
from concord.graph.v1 import episode_pb2, graph_pb2, lineage_pb2, memory_pb2, relation_pb2
from concord.search.v1 import health_pb2, suggestion_pb2
from concord.type.v1 import type_pb2

from concord_mcp.calls import Calls, Refusal
from concord_mcp.tool import Argument, Tool
from concord_mcp.tools.parts import (
    CLAIMS,
    EDGE,
    ETAG,
    GAVE_WAY,
    MEMORY,
    NAMES_OF_ENDS,
    as_of,
    end,
    limit,
)

_GET_EDGE = "/concord.graph.v1.GraphService/GetEdge"
RELATIONS = Argument("relations", "filter.relations")

QUERY_NEIGHBORS = Tool(
    "query_neighbors",
    graph_pb2,
    "GraphService.QueryNeighbors",
    "Use when you want to know what something is connected with.",
    (
        end("node_name", "start"),
        Argument("depth", "depth"),
        Argument("direction", "direction"),
        RELATIONS,
        Argument("include_superseded", "include_superseded"),
        limit(default=20),
        as_of(),
    ),
    {
        "status": "status",
        "neighbors": (
            "neighbors",
            {"name": "neighbor.name", "distance": "distance", "edge": ("edge", EDGE)},
        ),
        "truncated": "truncated",
    },
    lists="neighbors",
    aliases={"include_obsolete": "include_superseded"},
)

FIND_PATH = Tool(
    "find_path",
    graph_pb2,
    "GraphService.FindPath",
    "Use when you want to know how two things are connected.",
    (
        end("start_node", "start"),
        end("end_node", "end"),
        Argument("max_depth", "max_depth"),
        RELATIONS,
        limit("max_paths"),
        as_of(),
    ),
    {
        "status": "status",
        "paths": ("paths", {"edges": ("edges", EDGE), "weight": "weight"}),
        "truncated": "truncated",
    },
    lists="paths",
)

FOLLOW = Tool(
    "follow",
    relation_pb2,
    "RelationService.FollowRelations",
    "Use when an answer is several relations away: from Ada along WORKS_FOR, LOCATED_IN.",
    (
        end("node_name", "start"),
        Argument("relations", "relations", required=True),
        as_of(),
    ),
    {
        "status": "status",
        "ends": ("ends", {"name": "name", "id": "id"}),
        "unheld_hop": "unheld_hop",
        "hops": (
            "hops",
            {
                "relation": "relation",
                "edges": ("edges", EDGE),
                "truncated": "truncated",
                "held_relations": "held_relations",
            },
        ),
        "near_names": "near_names",
    },
    lists="hops",
)

GRAPH_ADD_NODE = Tool(
    "graph_add_node",
    graph_pb2,
    "GraphService.UpsertNode",
    "Use when a person, place or thing deserves a label or properties of its own.",
    (
        Argument("name", "node.name", required=True),
        Argument("label", "node.label"),
        Argument("properties", "node.properties"),
    ),
    {"id": "node.id", "name": "node.name", "created": "created", "token": "token"},
    reads=False,
)

GRAPH_ADD_EDGE = Tool(
    "graph_add_edge",
    graph_pb2,
    "GraphService.UpsertEdge",
    "Use when two things stand in a relation. Nodes that are not there yet are made.",
    (
        end("source", "edge.source"),
        Argument("relation", "edge.relation", required=True),
        end("target", "edge.target"),
        Argument("weight", "edge.weight"),
        Argument("properties", "edge.properties"),
        Argument("valid_from", "edge.valid_from"),
        Argument("valid_until", "edge.valid_until"),
    ),
    {
        "edge": ("edge", EDGE),
        "created": "created",
        "gave_way": GAVE_WAY,
        "claims": CLAIMS,
        "token": "token",
    },
    reads=False,
    aliases=NAMES_OF_ENDS,
)


async def _present(calls: Calls, request: Any) -> str:
    """The etag of the edge that a request names. Raises `Refusal`."""
    asked = graph_pb2.GetEdgeRequest(id=request.id, peek=True)
    found = await calls.call(_GET_EDGE, asked, graph_pb2.GetEdgeResponse)
    if found.status != type_pb2.LOOKUP_STATUS_FOUND:
        raise Refusal("ERROR_REASON_ITEM_NOT_FOUND", f"There is no edge {request.id}.")
    etag: str = found.edge.etag
    return etag


DELETE_EDGE = Tool(
    "delete_edge",
    graph_pb2,
    "GraphService.DeleteEdge",
    "Use when an edge was a mistake. What merely ceased to hold gets a valid_until.",
    (Argument("id", "id", required=True), Argument("etag", "etag", hint=ETAG)),
    {"gave_way": GAVE_WAY, "claims": CLAIMS, "token": "token"},
    etag="etag",
    present=_present,
    reads=False,
    destroys=True,
)

GET_LINEAGE = Tool(
    "get_lineage",
    lineage_pb2,
    "LineageService.GetLineage",
    "Use when you want to know what replaced or amended what.",
    (Argument("id", "id", required=True), as_of()),
    {
        "status": "status",
        "edges": (
            "edges",
            {"newer": "source.id", "relation": "relation", "older": "target.id"},
        ),
        "truncated": "truncated",
    },
    lists="edges",
)

GET_INSIGHT_BY_ID = Tool(
    "get_insight_by_id",
    memory_pb2,
    "MemoryService.GetMemory",
    "Use when you have the id of an insight: the same as get_memory.",
    (Argument("id", "id", required=True),),
    {"status": "status", "memory": ("memory", MEMORY)},
)

LIST_EPISODES = Tool(
    "list_episodes",
    episode_pb2,
    "EpisodeService.ListEpisodes",
    "Use when you want to know what was tried before, and how well it went.",
    (
        Argument("since", "since"),
        Argument("offset", "skip", hint="how many of the newest to leave out"),
        limit(),
    ),
    {
        "episodes": (
            "episodes",
            {
                "id": "id",
                "query": "query",
                "reward": "reward",
                "reflection": "reflection",
                "created": "create_time",
            },
        ),
        "total_count": "total_count",
    },
    lists="episodes",
)

END_SESSION = Tool(
    "end_session",
    dissonance_pb2,
    "DissonanceService.EndSession",
    "Use when a conversation is over: says what of it contradicts the memory.",
    (Argument("session_id", "session_id", required=True),),
    {
        "status": "status",
        "conflicts": ("conflicts", {"id": "id", "class": "conflict_class"}),
        "token": "token",
    },
    reads=False,
)

PROACTIVE_SUGGESTIONS = Tool(
    "proactive_suggestions",
    suggestion_pb2,
    "SuggestionService.SuggestProactively",
    "Use when you open a file or meet an error: what is remembered for just that.",
    (
        Argument("file_path", "file_path"),
        Argument("error_message", "error_message"),
        Argument("snippet", "snippet", hint="of the conversation"),
        Argument("session_id", "session_id"),
        limit("limit", most=10, default=3),
    ),
    {
        "suggestions": (
            "suggestions",
            {"id": "memory.id", "content": "memory.content", "trigger": "trigger"},
        )
    },
    lists="suggestions",
)

ASSESS_HEALTH = Tool(
    "assess_health",
    health_pb2,
    "MemoryHealthService.AssessHealth",
    "Use when you tidy the memory: what is at risk, stale or unconnected, and why.",
    (Argument("statuses", "statuses"), limit(default=20)),
    {
        "memories": (
            "memories",
            {
                "id": "memory_id",
                "says": "statement",
                "health": "health.status",
                "reasons": "health.reasons",
            },
        ),
        "counts": ("counts", {"health": "status", "count": "count"}),
    },
    lists="memories",
)

TOOLS = (
    PROACTIVE_SUGGESTIONS,
    ASSESS_HEALTH,
    QUERY_NEIGHBORS,
    FIND_PATH,
    FOLLOW,
    GRAPH_ADD_NODE,
    GRAPH_ADD_EDGE,
    DELETE_EDGE,
    GET_LINEAGE,
    GET_INSIGHT_BY_ID,
    LIST_EPISODES,
    END_SESSION,
)
