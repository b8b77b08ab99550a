"""What calls of models cost a space on a day (D11)."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from concord_models.budget import Cost

MOST_SPENDS = 1_000
"""How many spend ids of a day are remembered, so that a repeated spend is not added twice."""


def added(
    stored: Mapping[str, Any], day: str, cost: Cost, limit: Cost | None, spend_id: str
) -> tuple[bool, Mapping[str, Any] | None]:
    """Add to a day's stored cost, unless a sum would exceed the limit. No sum falls below 0.

    Return whether the cost is in the day's sums, and what is to be stored, None where nothing
    changes: a known `spend_id` is not added again. The sums of another day begin at 0.
    """
    before: Mapping[str, Any] = stored if stored.get("day") == day else {"sums": asdict(Cost())}
    known = before.get("spend_ids", [])
    if spend_id in known:
        return True, None
    total = Cost(**before["sums"]) + cost
    sums = {name: max(value, 0) for name, value in asdict(total).items()}
    if limit is not None and not Cost(**sums).within(limit):
        return False, None
    return True, {"day": day, "sums": sums, "spend_ids": [*known, spend_id][-MOST_SPENDS:]}
