"""Why dissonance refuses or fails.

DissonanceError
├── ItemUnknown          the caller's space has no such node, item or conflict
├── PairStale            the two items changed meanwhile, or one of them superseded the other
├── RequestIdReused      the request id began a run of another request
├── RunUnknown           the caller has no such run, or it is no longer kept
├── RunCancelled         nobody followed the run any more, or dissonance stopped
├── TooManyRuns          the space's runs under way have reached their limit
├── CriteriaInvalid      no answer can be scored by these criteria; its text may be shown
├── QuorumTooSmall       a council needs two reviews at least
├── ReviewersMissing     too few models are set up, or may see the content of the caller's space
├── ReviewerUnknown      no reviewer of that name is set up
├── QuorumMissed         fewer reviewers than the quorum gave a review
├── SynthesizerMissing   no synthesizer is set up, or may see the content of the space
├── ModelBudgetSpent     the models would exceed the budget of a request or of the day
├── ServiceUnavailable   a service that it depends on does not answer; trying again may help
├── ServiceRefused       a service refuses a request of dissonance's own, and would again
├── LeaseElsewhere       another process follows the space
└── JudgeUnavailable     a configured judge gives no usable answer; its text may be shown
"""


class DissonanceError(Exception):
    """The root of dissonance's own errors."""


class ServiceUnavailable(DissonanceError):
    """A service does not answer; `service` is its name."""

    def __init__(self, service: str, status: str) -> None:
        super().__init__(f"{service} does not answer ({status})")
        self.service = service


class LeaseElsewhere(DissonanceError):
    """Another process follows the space. `seconds`: until the lease may be asked for again."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"another process follows the space for {seconds:g} s")
        self.seconds = seconds


class ServiceRefused(DissonanceError):
    """A service refuses a request under dissonance's own name; `reason` is its ErrorReason."""

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(f"{service} refuses ({reason})")
        self.reason = reason


class ItemUnknown(DissonanceError):
    """The caller's space has no such node, item or conflict."""

    def __init__(self, item_id: str) -> None:
        super().__init__(f"no item {item_id}")
        self.item_id = item_id


class JudgeUnavailable(DissonanceError):
    """A configured judge gives no usable answer."""


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
    """The space's runs under way have reached their limit, `most`."""

    def __init__(self, most: int) -> None:
        super().__init__(f"{most} runs are under way")
        self.most = most


class CriteriaInvalid(DissonanceError):
    """No answer can be scored by these criteria."""


class QuorumTooSmall(DissonanceError):
    """The quorum is less than two: one reviewer is no council."""


class ReviewersMissing(DissonanceError):
    """Fewer reviewers than the request needs are set up, or may see the content of the space."""

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
    """No synthesizer is set up, or none may see the content of the space."""


class ModelBudgetSpent(DissonanceError):
    """The models would exceed the budget of a request or of the day; no more were asked."""
