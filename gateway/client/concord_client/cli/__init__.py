"""The `concord` command.

Exit status: 0 done, 1 refused or failed (the reason is on standard error), 2 used wrongly.
A command imports what it needs when it runs, so that the rest start at once.
"""


def main() -> None:
    """Runs the command line and exits."""
    from concord_client.cli.commands import app

    app(prog_name="concord")
