"""No task outlives a request but in `concord_chassis.server.background`, which keeps it alive."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
BEGINS = {"create_task", "ensure_future", "TaskGroup", "run_coroutine_threadsafe"}

OF_A_REQUEST = {
    "gateway/concord_gateway/callers.py": "the question whose a key is; callers await its answer",
    "gateway/concord_gateway/grpc/proxy.py": "both directions of one call",
    "gateway/concord_gateway/http/unary.py": "one call, and its caller's leaving",
    "gateway/concord_gateway/http/lines.py": "one stream, its caller's leaving and right to it",
    "deploy/embedded/concord_embedded/system.py": "one start, and its progress",
    "services/libs/chassis/concord_chassis/observe/metrics.py": "one figure of one scrape",
    "services/dissonance/concord_dissonance/usecases/dialectic/review_answer.py": "one question",
    "services/dissonance/concord_dissonance/usecases/dialectic/by_model.py": "one synthesis",
    "services/dissonance/concord_dissonance/usecases/dialectic/runs.py": "a run: its error is what "
    "its followers get",
    "services/dissonance/concord_dissonance/usecases/lease.py": "one piece of work, and its lease",
    "services/search/concord_search/adapters/qdrant_server/connection.py": "one call to the server",
    "services/search/concord_search/usecases/search.py": "the vector of one query",
    "services/search/concord_search/usecases/integrative_search.py": "the weight of one query",
}
"""Modules that begin tasks which end with the request, or piece of work, that they belong to."""

KEPT = {
    "services/libs/chassis/concord_chassis/server/background.py": "the mechanism",
    "services/search/concord_search/usecases/follow.py": "its group holds tasks that `keep` keeps",
    "services/search/concord_search/usecases/lead.py": "its group holds a task that `keep` keeps",
}


def product_modules() -> Iterator[Path]:
    """Yield the modules of all services, the gateway and the embedded runner."""
    for pattern in ("services/**/concord_*/**/*.py", "gateway/concord_gateway/**/*.py"):
        yield from ROOT.glob(pattern)
    yield from ROOT.glob("deploy/*/concord_*/**/*.py")


def begins_tasks(path: Path) -> bool:
    """Return whether a module names what begins a task."""
    tree = ast.parse(path.read_text("utf-8"))
    return any(
        isinstance(node, ast.Attribute | ast.Name)
        and (node.attr if isinstance(node, ast.Attribute) else node.id) in BEGINS
        for node in ast.walk(tree)
    )


def test_only_the_tasks_of_a_request_begin_elsewhere() -> None:
    """B1 A background task that dies is started again: none begins where nobody does that."""
    found = {
        path.relative_to(ROOT).as_posix()
        for path in product_modules()
        if "concord_testing" not in path.parts and begins_tasks(path)
    }

    assert found == OF_A_REQUEST.keys() | KEPT.keys()
