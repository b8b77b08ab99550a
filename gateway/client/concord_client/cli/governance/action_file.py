"""`concord propose --action FILE`, for actions without a subcommand of `concord propose`."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf.json_format import Parse, ParseError

from concord_client.cli.errors import CommandError

if TYPE_CHECKING:
    from concord.graph.v1.governed_pb2 import GovernedAction

EXAMPLE = (
    '{"update_memory": {"memory": {"id": "creed", "etag": "ETAG", "importance": '
    '"IMPORTANCE_HIGH"}, "update_mask": "importance"}}'
)
ACTIONS = (
    "upsert_edge, update_edge, delete_edge, update_node, delete_node, add_memory, update_memory, "
    "forget_memory, restore_memory, add_lineage, erase_memory, declare_relation, review_conflict, "
    "resolve_conflict, reopen_conflict, merge_items"
)
EPILOG = (
    "With --action, FILE holds one write of graph's, by its name, with that method's request as "
    f"protobuf JSON, for instance:\n\n{EXAMPLE}\n\nThe names: {ACTIONS}. The etag of an item is "
    "what `concord get ID --json` prints of it. A request_id is made where there is none: it "
    "should be random, since it salts the digests that outlive the action."
)


def salt() -> str:
    """A request id for an action: random, since it salts digests that outlive the action."""
    return secrets.token_urlsafe(24)


def read(path: Path) -> "GovernedAction":
    """The action in a file, with a request id if it had none. Raises `CommandError`."""
    from concord.graph.v1.governed_pb2 import GovernedAction

    try:
        action = Parse(path.read_text("utf-8"), GovernedAction())
    except (OSError, UnicodeDecodeError, ParseError) as error:
        raise CommandError(
            f"{path} is no GovernedAction: {error}. Its form: concord propose --help"
        ) from None
    chosen = action.WhichOneof("action")
    if chosen is None:
        raise CommandError(f"{path} names no action. Its form: concord propose --help")
    if not getattr(action, chosen).request_id:
        getattr(action, chosen).request_id = salt()
    return action
