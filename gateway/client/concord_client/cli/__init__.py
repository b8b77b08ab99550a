"""The `concord` command.

Exit status: 0 done, 1 refused or failed (the reason is on standard error), 2 used wrongly, 141 when
whoever read the output left before its end, as other tools in a pipe do.
A command imports what it needs when it runs, so that the rest start at once.
"""

import sys


def main() -> None:
    """Runs the command line and exits."""
    from concord_client.cli.app import app
    from concord_client.cli.errors import OUTPUT_FORSAKEN, forsaken

    try:
        try:
            app(prog_name="concord")
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        forsaken()
        raise SystemExit(OUTPUT_FORSAKEN) from None
