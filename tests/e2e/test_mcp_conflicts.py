"""What agents see of what a check found, and what they do about it."""

from agents_doors import error, over_http, told
from concord_embedded import Running

ALL = "/mcp/all"


async def test_many_findings_in_texts_are_recorded_once_the_user_agreed(system: Running) -> None:
    """W3 C1 Of more than a call allows none is recorded; the note says how many, and what to do."""
    gate = ("The gate of {} is open on Sunday.", "The gate of {} is not open on Sunday.")
    said = [text.format(town) for town in ("Bardale", "Cordale") for text in gate]
    async with over_http(system, ALL) as agent:
        for content in said:
            told(await agent.call_tool("add_memory", {"content": content}))
        asked = {"full": True, "max_text_findings": 1}
        bounded = told(await agent.call_tool("detect_contradictions", asked))
        asked["max_text_findings"] = bounded["unrecorded"]
        whole = told(await agent.call_tool("detect_contradictions", asked))

    assert bounded["unrecorded"] >= 2
    assert f"max_text_findings={bounded['unrecorded']}" in bounded["note"]
    assert "Found by rule: negation" in bounded["note"]
    assert {each["rule"]: each["recorded"] for each in bounded["rules"]}["negation"] == 0
    assert {each["rule"]: each["recorded"] for each in whole["rules"]}["negation"] >= 2
    assert "note" not in whole


async def test_what_a_rule_or_a_run_found_is_dismissed_at_once(system: Running) -> None:
    """W3 D5 `list_conflicts` names rule, run and group; exactly one of them is given."""
    async with over_http(system, ALL) as agent:
        asked = {"full": True, "max_text_findings": 99}
        for content in ("The tram goes to the lake.", "The tram does not go to the lake."):
            told(await agent.call_tool("add_memory", {"content": content}))
        told(await agent.call_tool("detect_contradictions", asked))
        found = told(await agent.call_tool("list_conflicts", {}))["conflicts"][0]
        by = {"group_id": found["group_id"]}
        refusals = [
            error(await agent.call_tool("dismiss_conflicts", wrong))
            for wrong in ({}, by | {"rule": found["why"]})
        ]
        done = told(await agent.call_tool("dismiss_conflicts", by))
        rest = told(await agent.call_tool("dismiss_conflicts", {"run_id": found["run_id"]}))

    assert [each["fields"][0]["argument"] for each in refusals] == ["rule", "rule"]
    assert (done["dismissed"], done["left"]) == (1, 0)
    assert rest["left"] == 0


async def test_the_whole_memory_is_checked_and_two_items_resolved(system: Running) -> None:
    """W3 D6 `detect_contradictions` counts, `list_conflicts` shows, `resolve_dissonance` takes a
    conflict or the two that disagree, and not both; `review_conflict` takes a number, too."""
    said = ("The depot opens at 8.", "The depot opens at 9.")
    async with over_http(system, ALL) as agent:
        ids = [told(await agent.call_tool("add_memory", {"content": c}))["id"] for c in said]
        check = told(await agent.call_tool("detect_contradictions", {"full": True}))
        listed = told(await agent.call_tool("list_conflicts", {"item_ids": ids}))["conflicts"]
        how = {"resolution_type": "CONTRADICTION", "superseded_id": ids[0]}
        both = {"item_ids": ids, "conflict_id": listed[0]["id"]}
        by_number = {"conflict_id": str(listed[0]["number"]), "action": "CONFIRM"}
        reviewed = told(await agent.call_tool("review_conflict", by_number))["conflict"]
        refusals = [
            error(await agent.call_tool("resolve_dissonance", how | wrong))
            for wrong in (both, {}, {"item_ids": ids[:1]}, {"item_ids": ids[:1] * 2})
        ]
        resolved = told(await agent.call_tool("resolve_dissonance", how | {"item_ids": ids}))

    assert check["status"] == "COMPLETE"
    assert check["findings"]["CONTRADICTION"] >= 1
    assert check["rules"][0]["found"] >= check["rules"][0]["recorded"] >= 1
    assert [each["class"] for each in listed] == ["CONTRADICTION"]
    assert [each["fields"][0]["argument"] for each in refusals] == [
        *("conflict_id", "conflict_id", "item_ids", "item_ids"),
    ]
    assert reviewed["id"] == resolved["conflict"]["id"] == listed[0]["id"]
    assert resolved["conflict"]["state"] == "RESOLVED"
