"""Several agents' answers to one question, brought together, and put before other models.

    python bring_together.py

No model is needed to bring them together; a review takes the models that the operator has set up.
The memory is a whole Concord in this process, in the folder `memory`.
"""

import concord_client
from concord_client import AgentResult, Concord, Event


def follow(event: Event) -> None:
    """Say how far it is, and what was found on the way."""
    print(f"{event.percent:.0f} % {event.stage.lower()}")
    if event.contradiction:
        print(f"  {event.contradiction.description}")


def bring_together(concord: Concord, question: str, said: dict[str, str]) -> str:
    """What stands, what is resolved and what stays open, kept as a memory."""
    results = [AgentResult(agent, text) for agent, text in said.items()]
    found = concord.synthesize(
        question, results=results, query=question, keep=True, on_event=follow
    )
    return found.text


def give(concord: Concord, question: str, answer: str) -> str:
    """The answer as several models would give it, with their warnings; else why it is not given."""
    try:
        review = concord.review_answer(question, answer, max_revisions=1, on_event=follow)
    except concord_client.Refused as refused:
        return f"Not reviewed: {refused.message}"
    if review.verdict.status == "REJECTED":
        return review.summary
    return "\n".join([review.verdict.answer, *review.warnings])


if __name__ == "__main__":
    with concord_client.embedded("memory") as memory:
        asked = "Does a garage need a permit?"
        print(bring_together(memory, asked, {
            "lawyer": "A garage needs a permit.",
            "builder": "A garage does not need a permit.",
        }))  # fmt: skip
        print(give(memory, asked, "It depends on the state."))
