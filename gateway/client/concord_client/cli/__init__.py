"""The `concord` command.

Exit status: 0 done, 1 refused or failed (the reason is on standard error), 2 used wrongly, 141 if
the reader of the output closed the pipe early (128 and SIGPIPE, as for other tools).
A command imports its modules when it runs, so that other commands start at once.
"""

import os
import sys

from concord_client.cli.errors import BROKEN_PIPE, discard_output, is_lost_output


def main() -> None:
    """Runs the command line and exits."""
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # gRPC's notes would mix with our output
    for name in ("stdin", "stdout", "stderr"):  # in the order of the descriptors that are closed
        if getattr(sys, name) is None:  # write-only for stdin, too: whoever reads is refused
            nowhere = os.open(os.devnull, os.O_WRONLY)  # it takes the closed one's number
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8", closefd=False))
    from concord_client.cli.app import app

    try:
        try:
            app(prog_name="concord")
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        raise SystemExit(BROKEN_PIPE) from None
    except OSError as error:
        if not is_lost_output(error):
            raise
        discard_output()
        sys.stderr.write(
            f"The output cannot be written: {error.strerror}. What the command did stays done.\n"
        )
        raise SystemExit(1) from None
