"""The errors of the services and what their classes state for a caller."""

from collections.abc import Iterator

import grpc
import pytest
from concord_attestation.consent import ConsentError
from concord_chassis.call.failure import REASONS
from concord_dissonance.domain import errors as dissonance
from concord_governance.domain import errors as governance
from concord_graph.domain.errors import GraphError
from concord_graph.domain.links import MalformedLink
from concord_search.domain import errors as search

ROOTS: tuple[type[Exception], ...] = (
    *(GraphError, MalformedLink, ConsentError, governance.GovernanceError),
    *(search.SearchError, dissonance.DissonanceError),
)
NO_CALLER_RECEIVES = {
    *(governance.AccessRefused, governance.JudgeUnavailable),
    *(search.GraphRefused, search.SettingsInvalid),
    *(search.IndexUnusable, search.IndexLocked, search.ModelMismatch),
    *(dissonance.LeaseElsewhere, dissonance.JudgeUnavailable),
    *(dissonance.NoPlace, dissonance.SketchesUnusable),
}
REASON_OF_ANOTHER_SERVICE: set[type[Exception]] = {
    governance.GraphRefused,
    dissonance.ServiceRefused,
}


def _below(root: type[Exception]) -> Iterator[type[Exception]]:
    for kind in root.__subclasses__():
        if not kind.__name__.startswith("_"):
            yield kind
        yield from _below(kind)


KINDS: set[type[Exception]] = {MalformedLink, *(kind for root in ROOTS for kind in _below(root))}


def _name(kind: type[Exception]) -> str:
    return f"{kind.__module__.split('.')[0]}.{kind.__name__}"


OWN = sorted(KINDS - REASON_OF_ANOTHER_SERVICE, key=_name)


@pytest.mark.parametrize("kind", OWN, ids=_name)
def test_each_error_states_a_code_and_a_reason_or_reaches_no_caller(kind: type[Exception]) -> None:
    """A class without either, or with a misspelt one, would become INTERNAL."""
    has_reason = getattr(kind, "reason", None) in REASONS
    has_code = getattr(kind, "code", None) in grpc.StatusCode.__members__

    assert has_reason is (kind not in NO_CALLER_RECEIVES)
    assert has_code or not has_reason
