"""Why dissonance refuses or fails; errors that a caller receives state their reason."""


class DissonanceError(Exception):
    """The root of dissonance's own errors.

    What else than `code` and `reason` a caller receives is said at
    `concord_chassis.call.failure.translate`, which reads these attributes.
    """


class FieldInvalid(DissonanceError):
    """A field of a request breaks a rule; `demand` goes on from the field's name."""

    code = "INVALID_ARGUMENT"
    reason = "ERROR_REASON_FIELD_INVALID"

    def __init__(self, field: str, demand: str) -> None:
        super().__init__(f"{field} {demand}.")
        self.violations = ((field, demand),)


class ServiceUnavailable(DissonanceError):
    """A service does not answer; `service` is its name."""

    code = "UNAVAILABLE"
    reason = "ERROR_REASON_UNAVAILABLE"
    message = "A service that dissonance depends on does not answer."

    def __init__(self, service: str, status: str) -> None:
        super().__init__(f"{service} does not answer ({status})")
        self.service = service


class LeaseElsewhere(DissonanceError):
    """Another process follows the space. `seconds`: until the lease may be asked for again."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"another process follows the space for {seconds:g} s")
        self.seconds = seconds


_PASSED_ON = {
    "ERROR_REASON_REQUEST_ID_REUSED": ("ALREADY_EXISTS", "This request id was used."),
    "ERROR_REASON_CONSISTENCY_TOKEN_INVALID": (
        "INVALID_ARGUMENT",
        "The freshness token is not one of this space.",
    ),
}
"""Refusals of dissonance's own requests that the caller's request caused."""


class ServiceRefused(DissonanceError):
    """A service refuses a request under dissonance's own name; `reason` is its ErrorReason.

    Its caller receives it if the caller's own request was the cause.
    """

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(f"{service} refuses ({reason})")
        self.reason = reason
        if reason in _PASSED_ON:
            self.code, self.message = _PASSED_ON[reason]


class ItemUnknown(DissonanceError):
    """The caller's space has no such node, item or conflict."""

    code = "NOT_FOUND"
    reason = "ERROR_REASON_ITEM_NOT_FOUND"
    message = "There is no such item."

    def __init__(self, item_id: str) -> None:
        super().__init__(f"no item {item_id}")
        self.metadata = {"item_id": item_id}


class JudgeUnavailable(DissonanceError):
    """A configured judge gives no usable answer."""


class SketchesUnusable(DissonanceError):
    """The file of sketches cannot be opened, or is another process's."""


class NoPlace(DissonanceError):
    """As many suggestions as may wait in the space, wait."""


class PairStale(DissonanceError):
    """The two items changed meanwhile, or one of them has superseded the other."""

    code = "FAILED_PRECONDITION"
    reason = "ERROR_REASON_ITEM_STATE"
    message = "The two items changed meanwhile, or one of them has superseded the other."


class RequestIdReused(DissonanceError):
    """The request id began a run of another request."""

    code = "ALREADY_EXISTS"
    reason = "ERROR_REASON_REQUEST_ID_REUSED"
    message = "This request id began another run."

    def __init__(self, request_id: str) -> None:
        super().__init__(f"{request_id} began another run")
        self.metadata = {"request_id": request_id}


class RunUnknown(DissonanceError):
    """The caller has no such run, or it is no longer kept."""

    code = "NOT_FOUND"
    reason = "ERROR_REASON_ITEM_NOT_FOUND"
    message = "There is no such run, or it is no longer kept."

    def __init__(self, run_id: str) -> None:
        super().__init__(f"no run {run_id}")
        self.metadata = {"item_id": run_id}


class RunCancelled(DissonanceError):
    """Nobody followed the run any more, or dissonance stopped."""

    code = "CANCELLED"
    reason = "ERROR_REASON_RUN_CANCELLED"
    message = "The run was cancelled: nobody followed it, or dissonance stopped."


class TooManyRuns(DissonanceError):
    """The space's runs under way have reached their limit, `most`."""

    code = "RESOURCE_EXHAUSTED"
    reason = "ERROR_REASON_OVERLOADED"
    message = "As many runs of the space as may be are under way."
    retry_after = 1.0

    def __init__(self, most: int) -> None:
        super().__init__(f"{most} runs are under way")
        self.metadata = {"limit": "runs", "max": str(most)}


class ReviewersMissing(DissonanceError):
    """Fewer reviewers than the request needs are set up, or may see the content of the space."""

    code = "FAILED_PRECONDITION"
    reason = "ERROR_REASON_REVIEWERS_MISSING"
    message = "Too few models are set up, or may be sent what this space holds."

    def __init__(self, configured: int, needed: int) -> None:
        super().__init__(f"{configured} reviewers of {needed}")
        self.metadata = {"configured": str(configured), "needed": str(needed)}


class QuorumMissed(DissonanceError):
    """Fewer reviewers than the quorum gave a review: there is no verdict."""

    code = "FAILED_PRECONDITION"
    reason = "ERROR_REASON_QUORUM_MISSED"
    message = "Fewer reviewers than the quorum gave a review: there is no verdict."

    def __init__(self, expected: int, succeeded: int, quorum: int) -> None:
        super().__init__(f"{succeeded} of {expected} reviewers, and the quorum is {quorum}")
        self.metadata = {
            "expected": str(expected),
            "succeeded": str(succeeded),
            "failed": str(expected - succeeded),
            "quorum": str(quorum),
        }


class SynthesizerMissing(DissonanceError):
    """No synthesizer is set up, or none may see the content of the space."""

    code = "FAILED_PRECONDITION"
    reason = "ERROR_REASON_MODEL_MISSING"
    message = "No model that synthesizes is set up, or may be sent what this space holds."


class ModelBudgetSpent(DissonanceError):
    """The models would exceed the budget of a request or of the day; no more were asked."""

    code = "RESOURCE_EXHAUSTED"
    reason = "ERROR_REASON_BUDGET_SPENT"
    message = "Asking the models would cost more than a request or the day may."
