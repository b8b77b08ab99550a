"""Prints services/RPCS.md: every RPC, and what each scope of a key lets it do.

python tests/contract/cases/rpcs_page.py > services/RPCS.md
"""

import sys

from concord.rules.v1 import rules_pb2
from concord_governance.domain.access import PERMISSIONS, Scope
from concord_graph.servicer.calls import CLAIMABLE
from contract_descriptors import METHODS, lesser, permission
from google.protobuf.descriptor import MethodDescriptor

HEAD = """\
<!-- Made by tests/contract/cases/rpcs_page.py from the contracts: do not edit it here. -->
# All RPCs, and who may call them

A key has scopes in one space. The second column is the permission that the contract demands, the
third the scopes that grant it (`concord key create --scopes`); "services" are Concord's own
services, whose permissions no key has. A key with `append` or `own` has lesser forms of the
permissions of `write`, `memory:append` or `memory:own` in place of `memory:write`: the last two
columns say what it does where `write` is demanded. Reading needs `read` beside, as with `write`.

- **acts**: it does what it says, as with `write`; it changes no item that is there.
- **adds**: what is new is written at once, but that `append` declares no relation functional:
  that decides how others' later values stand.
- **its own**: items of which the key's principal wrote every revision, with whichever of its keys.
- **claim**: nothing changes; the reply's outcome is CLAIMED, and the claim waits for the item's
  owner, or for who holds `govern` with a kind at least as high, with a key that may change the item
  (decisions 0087, 0116). A request of more than 48 KiB, which no claim can keep, is refused.
- **refused**: PERMISSION_DENIED, `PERMISSION_MISSING` with the permission that is needed.

A key that has both a lesser form and the whole permission, or other scopes beside, may do what any
of them grants: `govern` still decides about proposals, `admin` still erases by selection.
"""
COLUMNS = "| RPC | permission | scopes | `append` | `own` |\n|---|---|---|---|---|"
ALONE = {
    *("AddEpisode", "AppendDialogue", "CheckDissonance", "DetectContradictions", "EndSession"),
    *("SuggestAmendments", "WithdrawClaims"),
}
"""The RPCs that let lesser forms in and change no item that is there: they record an episode, a
session's end, dissonance's own findings and proposals, and that a caller takes its claims back."""


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for service in dict.fromkeys(each.containing_service for each in METHODS.values()):
        rows = [_row(method) for method in service.methods]
        parts.append(f"## {service.full_name}\n\n{COLUMNS}\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _row(method: MethodDescriptor) -> str:
    needed = permission(method)
    scopes = [f"`{scope.word}`" for scope in Scope if needed in PERMISSIONS[scope]]
    cells = (method.name, f"`{needed}`", ", ".join(scopes) or "services", *allowed(method))
    return f"| {' | '.join(cells)} |"


def allowed(method: MethodDescriptor) -> tuple[str, str]:
    """Return what `append` and `own` let a key do with a method."""
    needed = permission(method)
    if needed in PERMISSIONS[Scope.APPEND]:
        return "acts", "acts"
    if not lesser(method):
        return ("–", "–") if needed not in PERMISSIONS[Scope.WRITE] else ("refused", "refused")
    if method.name in ALONE:
        return "acts", "acts"
    beyond = "a claim" if claims(method) else "refused"
    match method.GetOptions().Extensions[rules_pb2.method].lesser:
        case rules_pb2.LESSER_ADDS:
            return f"adds; a change is {beyond}", f"adds, changes its own; else {beyond}"
        case _:
            return beyond, f"changes its own; else {beyond}"


def claims(method: MethodDescriptor) -> bool:
    """Return whether a request, or part of it, can become a claim: its reply says so; a stream's
    steps write in the caller's name."""
    replies = method.output_type.fields_by_name
    return method.name in CLAIMABLE or "outcome" in replies or method.server_streaming


if __name__ == "__main__":
    sys.stdout.write(page())
