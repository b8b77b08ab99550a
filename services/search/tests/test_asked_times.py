"""The times that a query names: the window they give, how near a memory is, and their terms."""

from pathlib import Path

import numpy as np
import pytest
from concord_reading.times import windows
from concord_search.adapters.qdrant import space
from concord_search.adapters.qdrant.time_terms import of_spans, with_times
from concord_search.domain.asked_times import OUTSIDE, TimeUse, Within, window_fit
from concord_search.domain.instants import DAY, NEVER, PRESENT, AsOf
from concord_search.domain.memory import Talk as Kind
from concord_search.usecases.asked_times import Dated, anchor_text, asked_times
from search_lab import START as NOW
from search_lab import OpenLab, candidates, plain_state, talk

WEEK = Within(NOW - 14 * DAY, NOW - 7 * DAY, "last week")


def fit(within: Within, **columns: object) -> float:
    """How near one candidate is to a window."""
    return float(window_fit(candidates(1, **columns), within, NOW)[0])


def test_what_held_within_the_window_fits() -> None:
    """S11: what held at some time of the window fits wholly, whether it ended since or not."""
    assert fit(WEEK, valid_from=[NOW - 100 * DAY]) == 1.0
    assert fit(WEEK, valid_from=[NOW - 100 * DAY], held_until=[NOW - 10 * DAY]) == 1.0
    assert fit(WEEK, valid_from=[NOW - 8 * DAY]) == 1.0


def test_outside_it_falls_with_the_distance() -> None:
    """S11: half just outside, and half of that for each length of the window."""
    just, far = (
        fit(WEEK, valid_from=[NOW - 300 * DAY], held_until=[NOW - days * DAY]) for days in (14, 21)
    )

    assert just == pytest.approx(OUTSIDE)
    assert far == pytest.approx(OUTSIDE / 2)
    assert fit(WEEK, valid_from=[NOW]) < OUTSIDE


def test_a_turn_is_of_its_day_alone() -> None:
    """S11: what somebody said long ago did not go on until now."""
    said = talk(kind=np.array([Kind.OF_PEOPLE]))

    assert fit(WEEK, talk=said, valid_from=[NOW - 10 * DAY]) == 1.0
    assert fit(WEEK, talk=said, valid_from=[NOW - 100 * DAY]) < OUTSIDE


def test_a_time_that_the_text_names_counts_too() -> None:
    """S11: stated times are compared with the window, beside valid time."""
    named = {"names_from": [NOW - 10 * DAY], "names_until": [NOW - 9 * DAY]}

    assert fit(WEEK, valid_from=[NOW], **named) == 1.0


def test_used_to_means_what_has_ended() -> None:
    """S11, T4: without dates, the past is what no longer holds."""
    past = Within(None, None, "used to", of_past=True)

    assert fit(past, held_until=[NOW - DAY], valid_from=[NOW - 2 * DAY]) == 1.0
    assert fit(past, held_until=[NEVER]) == 0.0


@pytest.mark.parametrize(
    ("query", "uses", "days"),
    [
        ("What broke last week?", [TimeUse.RANKED], 7),
        ("What broke last week, on Monday?", [TimeUse.RANKED], 1),
        ("What broke yesterday and in 2019?", [TimeUse.RANKED, TimeUse.NOT_USED], 1),
        ("What broke yesterday and at Easter?", [TimeUse.RANKED, TimeUse.NOT_DATED], 1),
        ("What broke at Easter?", [TimeUse.NOT_DATED], None),
        ("What did we use to do?", [TimeUse.PAST], None),
        ("What did the old ones used to do?", [TimeUse.PAST], None),
    ],
)
def test_every_phrase_is_said(query: str, uses: list[TimeUse], days: int | None) -> None:
    """S11: none is dropped: each is ranked by, not dated, or not used; windows are joined."""
    found = asked_times(windows(query, NOW), {}, no_window=False)

    assert [each.use for each in found.phrases] == uses
    window = found.within
    length = None if window is None or window.end is None else window.end - (window.begin or 0)
    assert length == (None if days is None else days * DAY)


def test_no_window_is_taken_off_and_said() -> None:
    """S11: the phrase is named, and nothing is ranked by it."""
    found = asked_times(windows("What broke last week?", NOW), {}, no_window=True)

    assert found.within is None
    assert [each.use for each in found.phrases] == [TimeUse.NOT_USED]


def test_a_thing_dates_what_is_relative_to_it() -> None:
    """S11: "two days after the offer" is a day once the offer has one."""
    (after,) = windows("What did Ada say two days after the offer?", NOW)
    offer = Dated(NOW // DAY * DAY, None, "offer-1")

    found = asked_times([after], {"the offer": offer}, no_window=False)

    assert found.within is not None
    assert (found.within.begin, found.within.end) == (offer.begin + 2 * DAY, offer.begin + 3 * DAY)
    assert found.phrases[0].dated_by == "offer-1"
    assert anchor_text("Where did Ada live before she moved?", after) == "Ada the offer"


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("Where did Mira work in 2020?", "Where did Mira work ?"),
        ("Wo hat Priya 2018 gearbeitet", "Wo hat Priya  gearbeitet"),
        ("Was tat Ada im März 2019 und seit Mai 2021?", "Was tat Ada  und seit Mai 2021?"),
        ("What did Ada wear before the wedding?", "What did Ada wear ?"),
        ("What did Ada wear during the wedding?", "What did Ada wear during the wedding?"),
        ("What did Ada see during her trip in 2020?", "What did Ada see during her trip in ?"),
        ("What did Ada see during her trip last year?",) * 2,
        ("Where did Ada move in March?",) * 2,
        ("Where was Ada at Easter?", "Where was Ada at Easter?"),
        ("Where did Ada use to live?", "Where did Ada  live?"),
        ("Wo hat Ada früher gewohnt?", "Wo hat Ada  gewohnt?"),  # not who rode a taxi "früher"
        ("history of the warehouse", " the warehouse"),
        ("Where did Ada live before the flood?",) * 2,
        ("What was there in 2020?", "What was there in 2020?"),
        ("2020", "2020"),
    ],
)
def test_a_window_is_no_word_of_what_is_asked(query: str, rest: str) -> None:
    """S11: a time that is a term of its own leaves the text, and so does "früher"; not what hangs
    on today, is not dated or is all that is said."""
    read = windows(query, NOW)
    dated = {"the wedding": Dated(NOW - 100 * DAY, None, "then")}

    assert asked_times(read, dated, no_window=False).without_windows(query) == rest
    assert asked_times(read, dated, no_window=True).without_windows(query) == query


def test_only_a_time_that_is_over_brings_back_what_ended() -> None:
    """S11, T4: and only if the request names no instant of its own."""
    over, open_, ahead = (
        asked_times(windows(text, NOW), {}, no_window=False)
        for text in ("in 2020", "since 2020", "tomorrow")
    )

    assert over.look_back(PRESENT, NOW)
    assert not open_.look_back(PRESENT, NOW)
    assert not ahead.look_back(PRESENT, NOW)
    assert not over.look_back(AsOf(NOW), NOW)
    assert ahead.look_ahead(PRESENT, NOW)
    assert not over.look_ahead(PRESENT, NOW)
    assert not open_.look_ahead(PRESENT, NOW)
    assert not ahead.look_ahead(AsOf(NOW), NOW)


def test_named_times_are_terms() -> None:
    """S11: year, month and weekday; of long times the years alone, of very long ones none."""
    (day,) = windows("on 5 March 2024", NOW)
    (year,) = windows("in 2024", NOW)

    assert of_spans([(day.begin, day.end)]) == ["timey2024", "timem2024x3", "timed2"]
    assert of_spans([(year.begin, year.end)])[:2] == ["timey2024", "timem2024x1"]
    assert of_spans([(day.begin, None)]) == ["timey2024", "timem2024x3", "timed2"]
    assert of_spans([(0, NOW)]) == []
    assert with_times("Yesterday", windows("Yesterday", NOW)) == "Yesterday"


async def test_a_date_in_figures_is_found_by_its_month(open_lab: OpenLab, tmp_path: Path) -> None:
    """S11: what states a time of the window is a candidate by its terms alone, and says so."""
    lab = await open_lab(tmp_path)
    await lab.write(plain_state("dated", 1, "Invoice 17, 2024-03-05"), plain_state("other", 2))
    asked = asked_times(windows("Was kam im März 2024?", NOW), {}, no_window=False)

    found = await lab.ask("Was kam im März 2024?", times=asked)

    by_words = dict(zip(lab.ids(found), found.lexical.tolist(), strict=True))
    assert by_words["dated"] > 0
    assert by_words.get("other", 0.0) == 0
    assert found.names_until[lab.ids(found).index("dated")] > 0


async def test_a_text_whose_times_cannot_be_read_is_indexed(
    open_lab: OpenLab,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """S10 S11: without its times, which is logged; its change is not set aside."""

    def broken(*_: object) -> None:
        raise IndexError("out of range")

    monkeypatch.setattr(space, "stated", broken)
    lab = await open_lab(tmp_path)

    await lab.write(plain_state("wedding", 1, "Uma's wedding is in early June"))

    assert lab.ids(await lab.ask("wedding")) == ["wedding"]
    said = capsys.readouterr().err
    assert "times not read" in said
    assert "Uma" not in said
