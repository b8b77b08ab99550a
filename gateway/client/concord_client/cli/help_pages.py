"""Formats the help of each command: whole paragraphs, readable choices, and an example."""

from typing import Any

from concord_client.cli.examples import EXAMPLES, OF_PANELS

MOST_CHOICES = 16
"""Characters of choices that fit beside their option in eighty columns."""


def make_readable(context: Any, command: Any, name: str) -> None:  # types: typer's private click
    """Joins the lines of a command's help, lists long choices, and adds its example below.

    `name`: the command as it is typed; a group of commands has its first one's example. A second
    call changes nothing. Raises `KeyError` for a command without an example.
    """
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    make_options_readable(context, command)
    below = getattr(command, "commands", {})
    of = f"{name} {next(iter(below))}" if below and not command.invoke_without_command else name
    example = f"Example: concord {EXAMPLES[of]}"
    above = (command.epilog or "").removesuffix(example).rstrip()
    command.epilog = "\n\n".join(filter(None, [above, example]))
    for of_group, each in below.items():
        make_readable(context, each, f"{name} {of_group}")


def make_options_readable(context: Any, command: Any) -> None:  # as above
    """Shows no type of a flag, and lists long choices in words. A second call changes nothing."""
    for parameter in command.get_params(context):
        if getattr(parameter, "is_flag", False):
            parameter.display_type_rich = lambda ctx: None  # noqa: ARG005 - typer's
            continue
        shown = parameter.display_type_rich(context) or ""  # <a|b>; <list[a|b]> if repeatable
        if "|" in shown and len(shown) > MOST_CHOICES:
            choices = shown.strip("<>").removeprefix("list[").removesuffix("]").split("|")
            named = parameter.metavar or parameter.name.upper()
            parameter.display_type_rich = lambda ctx, named=named: named  # noqa: ARG005 - typer's
            said = f"One of {', '.join(choices[:-1])} or {choices[-1]}."
            parameter.help = " ".join(filter(None, [parameter.help, said]))


def panel_examples() -> str:
    """An example of each of the panels of `concord --help`, a paragraph each."""
    return "\n\n".join(f"{panel}: concord {EXAMPLES[of]}" for panel, of in OF_PANELS.items())
