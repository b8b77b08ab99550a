"""Times in questions, through gRPC, over the real graph, the real index and the real model."""

from datetime import UTC, datetime

import pytest
from concord.search.v1 import search_pb2 as pb
from concord.type.v1.type_pb2 import Memory
from google.protobuf.timestamp_pb2 import Timestamp
from search_over_graph import TwoServers


def at(day: str) -> Timestamp:
    """A day's first instant."""
    made = Timestamp()
    made.FromDatetime(datetime.fromisoformat(day).replace(tzinfo=UTC))
    return made


HAMBURG = Memory(id="hamburg", content="Ada lives in Hamburg.", valid_from=at("2015-01-01"))
BERLIN = Memory(
    id="berlin",
    content="Ada lives in Berlin.\nSupersedes: [[memory:hamburg]]",
    valid_from=at("2020-01-01"),
)
GYM = Memory(
    id="gym",
    content="Ada goes to the gym at the harbour.",
    valid_from=at("2016-01-01"),
    valid_until=at("2018-01-01"),
)
WEDDING = Memory(
    id="wedding", content="Ada's wedding was on 4 May 2019.", valid_from=at("2019-05-04")
)


async def search(running: TwoServers, query: str, **said: object) -> pb.SearchResponse:
    """Searches without counting as a read."""
    request = pb.SearchRequest(query=query, peek=True, **said)  # type: ignore[arg-type] # by name
    request.consistency.at_least_as_fresh = await running.add(HAMBURG, BERLIN, GYM, WEDDING)
    return await running.searching().Search(request)


def ids(reply: pb.SearchResponse) -> list[str]:
    """The results' memories, in order."""
    return [result.memory.id for result in reply.results]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Where did Ada live in 2017?", "hamburg"),
        ("Wo wohnte Ada 2017?", "hamburg"),
        ("Where did Ada live in 2021?", "berlin"),
        ("Where did Ada live before 2019?", "hamburg"),
        ("Which gym did Ada go to in 2017?", "gym"),
        ("Wo wohnte Ada früher?", "hamburg"),
    ],
)
async def test_what_held_then_comes_first(running: TwoServers, query: str, first: str) -> None:
    """S11, T4: superseded and ended memories answer a question about the past, marked as such."""
    reply = await search(running, query)

    assert ids(reply)[0] == first
    held = reply.results[0]
    assert (" until " in held.provenance) is (first != "berlin")
    assert {"hamburg", "berlin", "gym"} <= {*ids(reply)}  # it ranks, it does not filter
    assert "window" in {each.signal_name for each in held.explanation.signals}


@pytest.mark.parametrize(
    "query", ["Where did Ada live in 2017?", "Where did Ada live before she moved to Berlin?"]
)
async def test_what_held_then_is_as_sure_as_if_it_still_did(
    running: TwoServers, query: str
) -> None:
    """S5 T4 What was replaced since answers a question about the past: it has the band of a memory
    that holds, and the advice is about it; of the present it is LOW."""
    reply = await search(running, query)
    now = await search(running, "Where does Ada live?", superseded=pb.SUPERSEDED_MODE_INCLUDE)

    first = reply.results[0]
    assert first.memory.id == "hamburg"
    assert first.confidence in {pb.CONFIDENCE_BAND_HIGH, pb.CONFIDENCE_BAND_MEDIUM}
    assert reply.confidence == first.confidence
    assert f"Relevance: {first.composite_score:.2f}" in reply.stac_lines[1]
    bands = {result.memory.id: result.confidence for result in now.results}
    assert bands["hamburg"] == pb.CONFIDENCE_BAND_LOW
    assert now.confidence == bands["berlin"]


OF_2020 = (
    "Jonas got his driving licence in 2020.",
    "The twins Ida and Max were born in 2020.",
    "2020 wurde das Dach repariert.",
    "Tarek hat 2020 ein Boot gekauft.",
)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("where did Mira work in 2020", "mill"),
        ("Mira's job in 2020", "mill"),
        ("Wo hat Mira 2020 gearbeitet", "mill"),
        ("where did Mira live in 2020?", "oulu"),
        ("Wo hat Mira im Jahr 2020 gewohnt?", "oulu"),
        ("Where did Mira live in March 2020?", "oulu"),
        ("Who got a driving licence in 2020?", "0"),
        ("2020 Dach", "2"),
    ],
)
@pytest.mark.parametrize("others", [0, 30])
async def test_a_year_does_not_stand_for_the_asked_subject(
    running: TwoServers, query: str, first: str, others: int
) -> None:
    """S11: what states the year of a window is ranked by it, not by its words as well."""
    since, until = at("2017-01-01"), at("2021-01-01")
    mill = Memory(
        id="mill",
        content="Mira worked at the mill as a chemist.",
        valid_from=since,
        valid_until=until,
    )
    oulu = Memory(id="oulu", content="Mira lived in Oulu.", valid_from=since, valid_until=until)
    turku = Memory(id="turku", content="Mira moved to Turku.", valid_from=at("2021-01-01"))
    dated = [Memory(id=str(place), content=text) for place, text in enumerate(OF_2020)]
    beside = [Memory(id=f"tea-{n}", content=f"Lena likes tea number {n}.") for n in range(others)]
    request = pb.SearchRequest(query=query, peek=True)
    request.consistency.at_least_as_fresh = await running.add(mill, oulu, turku, *dated, *beside)

    reply = await running.searching().Search(request)

    assert ids(reply)[0] == first


async def test_a_year_is_a_word_where_the_window_is_taken_off(running: TwoServers) -> None:
    """S11: then it is searched for as any other."""
    shares = []
    for no_window in (False, True):
        reply = await search(running, "Who had a wedding in 2019?", no_window=no_window)
        (lexical,) = (
            each.score
            for each in reply.results[0].explanation.signals
            if each.signal_name == "lexical"
        )
        shares.append((ids(reply)[0], round(lexical, 2)))

    assert shares == [("wedding", 1.0), ("wedding", 1.0)]


async def test_the_reply_names_the_window(running: TwoServers) -> None:
    """S11: by the caller's own today."""
    reply = await search(running, "Where did Ada live last year?", today=at("2018-03-01"))

    (time,) = reply.times
    assert ids(reply)[0] == "hamburg"
    assert (time.phrase, time.use) == ("last year", pb.TIME_USE_RANKED)
    assert (time.since, time.before) == (at("2017-01-01"), at("2018-01-01"))


async def test_the_window_is_taken_off(running: TwoServers) -> None:
    """S11: then nothing is ranked by it, nothing superseded comes in, and the reply says so."""
    reply = await search(running, "Where did Ada live in 2017?", no_window=True)

    assert [each.use for each in reply.times] == [pb.TIME_USE_NOT_USED]
    assert "hamburg" not in ids(reply)
    dropped = {each.signal_name: each.reason for each in reply.results[0].explanation.dropped}
    assert dropped["window"] == "the query names no time, or none that is known"


async def test_a_thing_is_dated_by_a_memory(running: TwoServers) -> None:
    """S11: "before the wedding" is before the day that a memory states, which is named."""
    reply = await search(running, "Where did Ada live before the wedding?")

    (time,) = reply.times
    assert (time.use, time.dated_by_memory_id) == (pb.TIME_USE_RANKED, "wedding")
    assert (time.HasField("since"), time.before) == (False, at("2019-05-04"))
    assert ids(reply)[0] == "hamburg"


async def test_the_history_is_named_where_the_past_is_left_out(running: TwoServers) -> None:
    """S5 T4: a question for the past whose window is taken off is told where the past is."""
    reply = await search(running, "Wo wohnte Ada früher?", no_window=True)

    assert "search in history mode." in reply.stac_lines[-1]
    assert reply.stac_lines[-1].endswith('Times not used: "früher".')


@pytest.mark.parametrize("query", ["Where is Ada at Easter?", "Where was Ada after the flood?"])
async def test_a_time_that_is_not_known_is_said(running: TwoServers, query: str) -> None:
    """S11: and it changes nothing."""
    reply = await search(running, query)

    assert [each.use for each in reply.times] == [pb.TIME_USE_NOT_DATED]
    assert "hamburg" not in ids(reply)


async def test_an_instant_of_the_request_goes_before_the_phrase(running: TwoServers) -> None:
    """T3: `as_of` filters as ever; the phrase ranks what held then."""
    said = pb.SearchRequest().as_of
    said.valid_time.CopyFrom(at("2021-01-01"))

    reply = await search(running, "Where did Ada live in 2017?", as_of=said)

    assert "hamburg" not in ids(reply)
    assert "berlin" in ids(reply)


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("Who was Ada's dentist before Dr. Quist?", ["vail", "moor", "quist"]),
        ("Who was Ada's previous dentist?", ["vail", "moor", "quist"]),
        ("Wer war Adas Zahnarzt, bevor sie zu Dr. Quist ging?", ["vail", "moor", "quist"]),
        ("Who was Ada's dentist in 2016?", ["moor", "vail", "quist"]),
        ("Who is Ada's dentist?", ["quist"]),
    ],
)
async def test_within_a_chain_time_decides(
    running: TwoServers, query: str, order: list[str]
) -> None:
    """S11 T4 Words tell only which chain is meant: what fits the time comes first, else the newest;
    "before" in the past tense asks for what has ended, whether or not that is dated."""
    chain = []
    for year, (name, former) in enumerate([("moor", ""), ("vail", "moor"), ("quist", "vail")]):
        link = f"\nSupersedes: [[memory:{former}]]" if former else ""
        said = f"Ada's dentist is Dr. {name.title()}.{link}"
        chain.append(Memory(id=name, content=said, valid_from=at(f"{2015 + 3 * year}-01-01")))
    request = pb.SearchRequest(query=query, peek=True)
    request.consistency.at_least_as_fresh = await running.add(*chain)

    found = ids(await running.searching().Search(request))

    assert [each for each in found if each in {"moor", "vail", "quist"}] == order


@pytest.mark.parametrize("size", [1, 2, 3, 5, 10])
async def test_what_comes_first_hangs_on_no_page(running: TwoServers, size: int) -> None:
    """S11 T4 The order of a chain is decided before the page is cut; pages go on where the last one
    ended, and the band and the lines of a reply are those of its first result."""
    lisbon = Memory(
        id="lisbon", content="Mira rents a flat in Lisbon.", valid_from=at("2019-01-01")
    )
    turku = Memory(
        id="turku",
        content="Mira lives in Turku, where she did live before.\nSupersedes: [[memory:lisbon]]",
        valid_from=at("2022-09-01"),
    )
    others = [Memory(id=f"m{n}", content=f"Mira where live note {n}") for n in range(4)]
    request = pb.SearchRequest(query="Where did Mira live in 2021?", page_size=size, peek=True)
    request.consistency.at_least_as_fresh = await running.add(lisbon, turku, *others)
    searching = running.searching()
    reply = await searching.Search(request)
    first, found = reply, ids(reply)
    while reply.next_page_token:
        request.page_token = reply.next_page_token
        reply = await searching.Search(request)
        found += ids(reply)

    assert found.index("lisbon") < found.index("turku")
    assert sorted(found) == sorted(["lisbon", "turku", *(each.id for each in others)])
    assert f"Relevance: {first.results[0].composite_score:.2f}" in first.stac_lines[1]
    assert first.confidence == first.results[0].confidence


@pytest.mark.parametrize("size", [1, 10])
async def test_the_lines_are_about_the_first_result(running: TwoServers, size: int) -> None:
    """S5 S11 Also where time has put another one first than the words, on any page."""
    chain = [
        Memory(id="lisbon", content="Mira lives in Lisbon.", valid_from=at("2019-01-01")),
        Memory(
            id="turku",
            content="Mira lives in Turku.\nSupersedes: [[memory:lisbon]]",
            valid_from=at("2022-09-01"),
        ),
    ]
    request = pb.SearchRequest(query="Where did Mira live before Turku?", peek=True, page_size=size)
    request.consistency.at_least_as_fresh = await running.add(*chain)

    reply = await running.searching().Search(request)

    first = reply.results[0]
    assert first.memory.id == "lisbon"
    assert reply.confidence == first.confidence == pb.CONFIDENCE_BAND_MEDIUM
    assert f"Relevance: {first.composite_score:.2f}" in reply.stac_lines[1]
    assert "say it with a caveat" in reply.stac_lines[2]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What does Ada have next week?", True),
        ("Was hat Ada nächste Woche vor?", True),
        ("What does Ada have by 12 November 2031?", True),
        ("What does Ada have?", False),
    ],
)
async def test_what_is_to_come_answers_a_question_about_that_time(
    running: TwoServers, query: str, expected: bool
) -> None:
    """S11: a plan of a day is found by a time that is not over, and by no question without one."""
    dentist = Memory(id="dentist", content="Ada sees the dentist.", valid_from=at("2031-11-12"))
    request = pb.SearchRequest(query=query, peek=True, today=at("2031-11-06"))
    request.consistency.at_least_as_fresh = await running.add(HAMBURG, BERLIN, dentist)

    reply = await running.searching().Search(request)

    assert ("dentist" in ids(reply)) is expected
