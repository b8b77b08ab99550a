"""Local models that review and synthesize: their settings file and their answers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from concord_testing.chat_endpoint import Body, completion

PROVIDER = "local"
REVIEWERS = ("one", "two", "three")
REVISER = "reviser"
SYNTHESIZER = "writer"


def council_settings(
    url: str, *, at_once: int = 4, price: int = 0, **review: Any
) -> dict[str, Any]:
    """Return settings of reviewers, a reviser and a synthesizer behind one endpoint.

    `timeout` is the synthesizer's, too.
    """
    chosen = {"reviewers": list(REVIEWERS), "reviser": REVISER, **review}
    names = {*chosen["reviewers"], REVISER, SYNTHESIZER}
    asking = {key: value for key, value in review.items() if key == "timeout"}
    return {
        "providers": {PROVIDER: {"url": url, "at_once": at_once}},
        "models": {
            name: {"provider": PROVIDER, "model": f"{name}:8b", "vendor": name, "price": price}
            for name in sorted(names)
        },
        "review": chosen,
        "synthesis": {"model": SYNTHESIZER, **asking},
    }


def council_file(folder: Path, url: str, **settings: Any) -> Path:
    """Write `council_settings` as TOML; JSON's strings, numbers and lists are TOML, too."""
    found = council_settings(url, **settings)
    tables: dict[str, Mapping[str, Any]] = {
        **{f"providers.{name}": each for name, each in found["providers"].items()},
        **{f"models.{name}": each for name, each in found["models"].items()},
        "review": found["review"],
        "synthesis": found["synthesis"],
    }
    path = folder / "models.toml"
    path.write_text(
        "\n".join(
            f"[{name}]\n" + "\n".join(f"{key} = {json.dumps(each[key])}" for key in each)
            for name, each in tables.items()
        )
    )
    return path


def data_of(body: Body) -> dict[str, Any]:
    """Return the data of a question."""
    data: dict[str, Any] = json.loads(body["messages"][1]["content"])
    return data


def review_of(
    body: Body, score: float = 8, recommendation: str = "approve", **more: object
) -> dict[str, Any]:
    """Return a review that gives every criterion of a question the same score."""
    criteria = [
        {"criterion_index": each["index"], "comment": "As it should be.", "score": score}
        for each in data_of(body)["criteria"]
    ]
    return {
        "comments": "Sound.",
        "criteria": criteria,
        "strengths": ["Short."],
        "weaknesses": ["No exception is named."],
        "overall_score": 1,
        "recommendation": recommendation,
    } | more


def reviewing(body: Body, **fields: Any) -> bytes:
    """Return a completion that is a review; the reviser's is a revised answer."""
    if body["model"].startswith(REVISER):
        answer = f"{data_of(body)['answer']} Sheds are excepted."
        return completion(json.dumps({"changes": "Named the exception.", "answer": answer}))
    return completion(json.dumps(review_of(body, **fields)))


def step_of(body: Body) -> str:
    """Return the step of a question: "theses", "contradictions" or "synthesis"."""
    data = data_of(body)
    if "text" in data:
        return "theses"
    return "synthesis" if "contradictions" in data else "contradictions"


def step_answer(body: Body, **fields: Any) -> dict[str, Any]:
    """Return the answer of a synthesizer that finds nothing and resolves nothing.

    `fields` maps a step's name to fields that replace those of its answer.
    """
    step = step_of(body)
    if step != "synthesis":
        found: dict[str, Any] = {step: []} | fields.get(step, {})
        return found
    resolutions = [
        {
            "contradiction_index": each["index"],
            "strategy": "unresolved",
            "prevailing_index": None,
            "explanation": "Nothing tells.",
        }
        for each in data_of(body)["contradictions"]
    ]
    whole: dict[str, Any] = {
        "reasoning": "I weighed them.",
        "resolutions": resolutions,
        "text": "It depends.",
    }
    whole |= fields.get(step, {})
    return whole


def synthesizing(body: Body, **fields: Any) -> bytes:
    """Return a completion whose content is `step_answer`."""
    return completion(json.dumps(step_answer(body, **fields)))
