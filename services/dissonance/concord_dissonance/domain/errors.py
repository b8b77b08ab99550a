"""Why dissonance refuses or fails.

DissonanceError
├── ItemUnknown          the caller's space has no such node, item or conflict
├── PairStale            the two items changed meanwhile, or one of them superseded the other
├── RequestIdReused      the request id began a run of another request
├── RunUnknown           the caller has no such run, or it is no longer kept
├── RunCancelled         nobody followed the run any more, or dissonance stopped
├── TooManyRuns          as many runs of the space as may be are under way


├── CriteriaInvalid      the criteria of a review cannot be scored by; its text may be shown
├── ReviewersMissing     not enough models are set up, or may see what the caller's space holds
├── ReviewerUnknown      no reviewer of that name is set up
├── QuorumMissed         fewer reviewers than the quorum gave a review
├── SynthesizerMissing   no model that synthesizes is set up, or may see what the space holds
├── ModelBudgetSpent     the models would cost more than a request or the day may
├── ServiceUnavailable   a service that it depends on does not answer; trying again may help
├── ServiceRefused       a service refuses what dissonance asks for itself, and would again
├── LeaseElsewhere       another process follows the space
└── JudgeUnavailable     a judge that is configured gives no usable answer; its text may be shown
"""


class DissonanceError(Exception):
    """The root of what dissonance raises on purpose."""


class ServiceUnavailable(DissonanceError):
    """A service does not answer; `service` is its name."""

    def __init__(self, service: str, status: str) -> None:
        super().__init__(f"{service} does not answer ({status})")
        self.service = service


class LeaseElsewhere(DissonanceError):
    """Another process follows the space; `seconds` until it may be asked for again."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"another process follows the space for {seconds:g} s")
        self.seconds = seconds


class ServiceRefused(DissonanceError):
    """A service refuses what dissonance asks under its own name; `reason` is its ErrorReason."""

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(f"{service} refuses ({reason})")
        self.reason = reason


class ItemUnknown(DissonanceError):
    """The caller's space has no such node, item or conflict."""

    def __init__(self, item_id: str) -> None:
        super().__init__(f"no item {item_id}")
        self.item_id = item_id


class JudgeUnavailable(DissonanceError):
    """A judge that is configured gives no usable answer."""


class PairStale(DissonanceError):
    """The two items changed meanwhile, or one of them has superseded the other."""


class RequestIdReused(DissonanceError):
    """The request id began a run of another request."""

    def __init__(self, request_id: str) -> None:
        super().__init__(f"{request_id} began another run")
        self.request_id = request_id


class RunUnknown(DissonanceError):
    """The caller has no such run, or it is no longer kept."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"no run {run_id}")
        self.run_id = run_id


class RunCancelled(DissonanceError):
    """Nobody followed the run any more, or dissonance stopped."""


class TooManyRuns(DissonanceError):
    """As many runs of the space as may be are under way."""

    def __init__(self, most: int) -> None:
        super().__init__(f"{most} runs are under way")
        self.most = most


class CriteriaInvalid(DissonanceError):
    """The criteria of a review cannot be scored by."""


class QuorumTooSmall(DissonanceError):
    """One review is no council's."""


class ReviewersMissing(DissonanceError):
    """Fewer reviewers are set up, or may see what the space holds, than the request needs."""

    def __init__(self, configured: int, needed: int) -> None:
        super().__init__(f"{configured} reviewers of {needed}")
        self.configured, self.needed = configured, needed


class ReviewerUnknown(DissonanceError):
    """No reviewer of that name is set up."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no reviewer {name}")
        self.name = name


class QuorumMissed(DissonanceError):
    """Fewer reviewers than the quorum gave a review: there is no verdict."""

    def __init__(self, expected: int, succeeded: int, quorum: int) -> None:
        super().__init__(f"{succeeded} of {expected} reviewers, and the quorum is {quorum}")
        self.expected, self.succeeded, self.quorum = expected, succeeded, quorum


class SynthesizerMissing(DissonanceError):
    """No model that synthesizes is set up, or none may see what the space holds."""


class ModelBudgetSpent(DissonanceError):
    """The models would cost more than a request or the day may; nothing more was asked."""
