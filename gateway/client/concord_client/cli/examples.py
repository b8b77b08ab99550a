"""An example of each command, shown below its help. A test reads each as the command line does."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from typer.models import CommandInfo, TyperInfo

ID = "0190c5d2-7a1e"
NUMBER = "12"

EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "up": "up --port 8080",
        "status": "status",
        "reconcile": "reconcile --repair",
        "reindex": "reindex --wait",
        "parked": "parked --retry",
        "add": 'add "Ada moved to Bremen." --fact "Ada|LIVES_IN|Bremen"',
        "get": f"get {ID}",
        "list": "list --kind plan --origin human",
        "update": f'update {ID} --content "Ada moved to Bremen in May."',
        "forget": f"forget {ID}",
        "restore": f"restore {ID}",
        "delete": f"delete edge:{ID}",
        "link": "link Ada WORKS_FOR Acme --valid-from 2024-03-01",
        "import": "import notes/ --wait",
        "search": 'search "Where does Ada live?" --context',
        "integrative": 'integrative "What should I plan?" --node Ada',
        "health": "health --status stale",
        "suggest": "suggest --file src/billing.py",
        "feedback": f"feedback {ID} --helpful",
        "calibrate": "calibrate --dry-run",
        "neighbors": "neighbors Ada --depth 2",
        "path": "path Ada Hamburg",
        "follow": "follow Ada WORKS_FOR LOCATED_IN --as-of 2024-03-01",
        "lineage": f"lineage {ID}",
        "relation": "relation LIVES_IN --functional",
        "relations": "relations",
        "say": 'say monday Ada "The harbour is closed."',
        "dialogue": "dialogue monday",
        "episode": 'episode "Book the ferry" --reward 0.8',
        "episodes": "episodes --since 2024-03-01",
        "session end": "session end monday",
        "session list": "session list",
        "recall list": f"recall list --memory {ID}",
        "recall on": "recall on",
        "recall off": "recall off",
        "recall erase-query": f"recall erase-query {ID}",
        "hold": 'hold "Ada waits for an answer." --importance high',
        "working": "working --stale",
        "history": f"history {ID}",
        "erase": f'erase {ID} --reason "Ada asked for it"',
        "receipt": f"receipt {ID}",
        "operations": "operations --since 2024-03-01",
        "export": "export space.jsonl --form full",
        "import-space": "import-space space.jsonl --space copy",
        "check": "check Ada --dry-run",
        "conflicts": "conflicts --state potential",
        "conflict": f"conflict {ID}",
        "confirm": f"confirm {ID}",
        "dismiss": f'dismiss {ID} --because "Two different Adas."',
        "except": f'except {ID} --because "He works in both."',
        "reclassify": f"reclassify {ID} evolution",
        "reopen": f"reopen {ID}",
        "resolve": f"resolve {ID} --as evolution",
        "synthesize": 'synthesize "May we fly drones there?"',
        "review-answer": 'review-answer "May we fly drones there?" "Yes." --revisions 1',
        "proposals": "proposals --status pending",
        "review": f"review {NUMBER}",
        "approve": f"approve {NUMBER} --as human",
        "reject": f'reject {NUMBER} --as human --reason "Not me."',
        "withdraw": f"withdraw {NUMBER}",
        "revoke": f"revoke {NUMBER} --as human",
        "undo": f"undo {NUMBER}",
        "briefing": "briefing",
        "principal create": "principal create --slot human --name ada",
        "principal enrol": "principal enrol",
        "principal show": "principal show",
        "principal rotate": "principal rotate --slot human",
        "propose set": "propose set Me VALUES Honesty --constitutive",
        "propose change": f"propose change edge:{ID} --weight 0.8",
        "propose delete": f"propose delete edge:{ID}",
        "propose rename": "propose rename Honesty Candour",
        "propose add": 'propose add "I keep my promises." --constitutive',
        "propose update": f'propose update {ID} "I keep my word."',
        "propose forget": f"propose forget {ID}",
        "propose erase": f"propose erase {ID}",
        "propose restore": f"propose restore {ID}",
        "propose promote": f"propose promote {ID}",
        "propose demote": f"propose demote {ID}",
        "propose link": f"propose link memory:{ID} SUPERSEDES memory:{ID}-2",
        "audit log": "audit log --since 2024-03-01",
        "audit export": "audit export log.jsonl",
        "audit verify": "audit verify log.jsonl",
        "audit proof": f"audit proof {NUMBER}",
        "space create": "space create work --save",
        "space list": "space list",
        "space delete": "space delete work",
        "key create": "key create --principal helper --kind agent --scopes read,write",
        "key list": "key list",
        "key revoke": f"key revoke {ID}",
        "mcp config": "mcp config --profile graph",
        "demo": "demo",
    }
)


def show_examples(commands: list[CommandInfo], groups: list[TyperInfo]) -> None:
    """Puts each command's example below its help. Raises `KeyError` for one without."""
    for name, command in _named(commands, groups):
        command.epilog = f"Example: concord {EXAMPLES[name]}"


def _named(
    commands: list[CommandInfo], groups: list[TyperInfo]
) -> Iterator[tuple[str, CommandInfo]]:
    for command in commands:
        yield _typed(command), command
    for group in groups:
        for command in group.typer_instance.registered_commands if group.typer_instance else ():
            yield f"{group.name} {_typed(command)}", command


def _typed(command: CommandInfo) -> str:
    """A command's name; by default its function's, as typer has it."""
    function = command.callback.__name__ if command.callback else ""
    return command.name or function.lower().replace("_", "-")
