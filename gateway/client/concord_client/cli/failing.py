"""How a command fails: one line with the machine's reason and a sentence for people."""

from concord_client.credentials import CredentialsError


class CommandError(Exception):
    """A command cannot do what was asked; the text says why and what to do."""

    def __init__(self, message: str, *, reason: str = "") -> None:
        """`reason` is a machine reason, where there is one."""
        super().__init__(f"{reason}: {message}" if reason else message)


def told() -> tuple[type[Exception], ...]:
    """The exceptions that are told in a line. Evaluated only when something was raised."""
    from concord_client.refusal import Refused

    return (Refused, CredentialsError, CommandError)


def complaint(error: Exception) -> str:
    """What standard error says about `error`."""
    from concord_client.refusal import Refused, Unreachable

    if isinstance(error, Unreachable):
        return (
            f"{error.reason}: Concord does not answer ({error.message}). "
            "Start it with `concord up`."
        )
    if not isinstance(error, Refused):
        return str(error)
    violations = [f"  {each.field}: {each.description}" for each in error.violations]
    if error.reason == "ERROR_REASON_INTERNAL" and error.request_id:
        return f"{error.reason}: Concord failed; its log says why (request {error.request_id})."
    return "\n".join([str(error), *violations])
