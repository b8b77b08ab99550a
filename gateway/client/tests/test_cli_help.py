"""What `concord --help` and each command's help say: groups, eighty columns, and an example."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from concord.governance.v1 import access_pb2
from concord.rules.v1 import rules_pb2
from concord_client.cli.app import app
from concord_client.cli.examples import EXAMPLES
from concord_testing.command_line import CommandLine
from concord_testing.up_process import clean_environ
from typer.core import TyperGroup as Group
from typer.main import get_group

CUT = re.compile(r"<[^>\s]*\|[^>\s]*\s")
"""A choice within which its line ends."""
BROKEN = re.compile(r"^ [^ ].{0,45}[a-z,] *\n [^ \n]", re.MULTILINE)
"""A line that ends far before its sentence."""
FOR_PROGRAMS = {"mcp", "mcp config"}
"""What programs speak with: there is no other form of it."""
GROUP = get_group(app)
"""Every command: built once, which takes as long as reading a hundred examples."""
GROUPS = ["Everyday", "Graph", "Lineage and conflicts", "Governance", "Operation"]


def commands(group: Group, *above: str) -> Iterator[str]:
    """Yield each command below a group as it is typed."""
    for name, each in group.commands.items():
        if isinstance(each, Group):
            yield from commands(each, *above, name)
        if not isinstance(each, Group) or each.invoke_without_command:
            yield " ".join((*above, name))


def read(words: list[str]) -> None:
    """Read words as the command line does. Raises click's errors for what it does not take."""
    command, above = GROUP, None
    while True:
        context = command.make_context("concord", words, parent=above)
        if not isinstance(command, Group):
            return
        words = [*context._protected_args, *context.args]
        if not words:
            return
        _, command, words = command.resolve_command(context, words)  # type: ignore[assignment]
        above = context


def test_the_commands_are_grouped() -> None:
    """W4 Everyday, graph, lineage, governance and operation: each command is in one of them."""
    page = CommandLine(clean_environ() | {"COLUMNS": "80"}).done("--help")

    places = [page.index(f"─ {group} ─") for group in GROUPS]
    assert places == sorted(places)
    assert "─ Commands ─" not in page
    assert max(map(len, page.splitlines())) <= 80


def test_each_command_has_help_in_eighty_columns_with_an_example() -> None:
    """W4 Nothing is cut off, the example is the command's own, and `--json` is everywhere."""
    line = CommandLine(clean_environ() | {"COLUMNS": "80"})
    for command in commands(GROUP):
        page = line.done(*command.split(), "--help")
        assert max(map(len, page.splitlines())) <= 80, command
        assert "…" not in page, command
        assert not CUT.search(page), command
        assert not BROKEN.search(page), command
        assert f"Example: concord {command}" in " ".join(page.split()), command
        assert command in FOR_PROGRAMS or "--json" in page, command


def groups(group: Group, *above: str) -> Iterator[str]:
    """Yield each group below a group as it is typed."""
    for name, each in group.commands.items():
        if isinstance(each, Group):
            yield " ".join((*above, name))
            yield from groups(each, *above, name)


def test_each_group_and_each_panel_has_an_example() -> None:
    """W4 `concord key --help` shows how to make one; `concord --help` an example of each panel."""
    line = CommandLine(clean_environ() | {"COLUMNS": "80"})
    whole = " ".join(line.done("--help").split())

    for of in groups(GROUP):
        assert f"Example: concord {of}" in " ".join(line.done(*of.split(), "--help").split()), of
    for panel in GROUPS:
        assert f" {panel}: concord " in whole, panel


def test_each_option_says_what_it_is_for_and_a_flag_has_no_type() -> None:
    """W4 `--importance`, `--direction`, `--oldest-first` and all others; no default named twice."""
    line = CommandLine(clean_environ() | {"COLUMNS": "80"})
    for command in ("", *commands(GROUP), *groups(GROUP)):
        of = GROUP
        for word in command.split():
            of = of.commands[word]  # type: ignore[assignment]
        page = line.done(*command.split(), "--help")

        assert "bool>" not in page, command
        assert "(default)" not in page, command
        assert all(getattr(each, "help", None) for each in of.params), command


def test_the_examples_are_read_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W4 No example names an option that is gone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    for name in ("log.jsonl", "space.jsonl", "change.json"):
        (tmp_path / name).touch()

    assert set(EXAMPLES) == set(commands(GROUP))
    for example in EXAMPLES.values():
        read(shlex.split(example))


def test_the_example_of_a_keys_id_is_one() -> None:
    """W4 W7 Ids of keys have a form of their own, which the contract demands."""
    field = access_pb2.RevokeKeyRequest.DESCRIPTOR.fields_by_name["key_id"]
    form = field.GetOptions().Extensions[rules_pb2.field].string.pattern

    assert re.fullmatch(f"key revoke {form}", EXAMPLES["key revoke"])
