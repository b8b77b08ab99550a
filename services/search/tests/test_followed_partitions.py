"""What a follower keeps of partitions: replays, stores that were put back, and spaces that rest."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import pytest
from concord_search.domain.errors import FreshnessTokenInvalid, GraphUnavailable, IndexCorrupt
from concord_search.usecases import follow
from concord_search.usecases.progress import Demand
from concord_search.usecases.reconcile import Reconcile
from concord_testing.polling import SECONDS, until
from following import Following, numbered
from search_lab import SPACE, plain_state


async def test_a_start_reads_no_change_again(at_work: Following) -> None:
    """S10 W7 After a clean stop the kept cursors say where to go on: nothing is replayed, no space
    is compared, and none that rests is touched."""
    for space in ("a", "b", "c"):
        await at_work.write(plain_state("one", 1), space=space)
    await until_kept(at_work)
    await at_work.stop()
    at_work.graph.asked.clear()

    at_work.follow()
    await until(lambda: at_work.progress.following)
    await at_work.write(plain_state("two", 2), space="b")

    assert at_work.graph.asked == [("watched", "b")]
    assert not at_work.progress.knows("a")


async def test_a_follower_killed_between_apply_and_cursor_replays(
    at_work: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 The cursor that was kept may lag: what comes again changes nothing."""
    await at_work.write(*numbered(3))

    async def killed(*_: object) -> None:
        raise OSError("the process was killed before this")

    with monkeypatch.context() as patched:
        patched.setattr(type(at_work.lab.index), "keep_cursors", killed)
        await at_work.stop()
    at_work.follow()

    state = await at_work.write(plain_state("m4", 4, "late hen"))

    assert (state.applied_seq, state.memories, state.parked_count) == (4, 4, 0)
    assert (await Reconcile(at_work.context)(SPACE, repair=False)).agrees


async def test_an_older_store_is_noticed_in_an_idle_space(
    at_work: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 Put back under a graph that goes on, with the epoch that it had: spaces of which it lacks
    the last change are built anew, also where nobody writes; the others stay as they are."""
    monkeypatch.setattr(follow, "COMPARE_EVERY", 0.02)
    await at_work.write(plain_state("kept", 1, "red fox"), plain_state("lost", 2, "blue whale"))
    await at_work.write(plain_state("other", 1, "grey owl"), space="other")
    at_work.embedder.asked.clear()

    at_work.graph.lose(SPACE)

    await until_found(at_work, "fox whale owl", ["kept"])
    await until(lambda: at_work.progress.following)
    assert [list(texts) for texts in at_work.embedder.asked] == [["red fox"]]


async def test_an_older_store_that_went_on_is_noticed(at_work: Following) -> None:
    """S10 While search was away the store was put back and went as far as before, with another
    change under the same number."""
    await at_work.write(plain_state("kept", 1, "red fox"), plain_state("lost", 2, "blue whale"))
    await at_work.stop()
    at_work.graph.lose(SPACE)
    at_work.graph.say(SPACE, plain_state("new", 2, "green frog"))
    at_work.follow()

    await until_found(at_work, "fox whale frog", ["kept", "new"])


async def test_a_doubt_outlives_the_connection(
    at_work: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 Graph goes away again before a space was compared: it is compared afterwards."""
    monkeypatch.setattr(follow, "COMPARE_EVERY", 0.02)
    await at_work.write(plain_state("kept", 1, "red fox"), plain_state("lost", 2, "blue whale"))
    graph, lacks = at_work.graph, at_work.graph.lacks

    async def lost(space: str, seq: int) -> bool:
        graph.lacks = lacks  # type: ignore[method-assign]
        raise GraphUnavailable(f"asked about {space} {seq}, and gone")

    graph.lacks = lost  # type: ignore[method-assign]
    graph.lose(SPACE)

    await until_found(at_work, "fox whale", ["kept"])


async def test_a_change_that_graph_lost_in_a_crash_is_not_kept(
    at_work: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 The machine dies: graph loses its last change, the index has it, and its cursor lags
    behind both. What graph then writes under that number is indexed all the same."""
    await at_work.write(plain_state("kept", 1, "red fox"))
    await until_kept(at_work)

    async def killed(*_: object) -> None:
        raise OSError("the process was killed before this")

    monkeypatch.setattr(type(at_work.lab.index), "keep_cursors", killed)
    await at_work.write(plain_state("lost", 2, "blue whale"))
    await at_work.stop()
    at_work.graph.lose(SPACE)
    at_work.graph.say(SPACE, plain_state("new", 2, "green frog"))
    at_work.follow()

    await until_found(at_work, "fox whale frog", ["kept", "new"])


async def until_found(at_work: Following, text: str, ids: Sequence[str]) -> None:
    """Waits until a search finds these alone; a part that is built anew is away for a moment."""
    found: list[str] = []
    async with asyncio.timeout(SECONDS):
        while found != ids:
            with suppress(IndexCorrupt):
                found = sorted(at_work.lab.ids(await at_work.lab.ask(text)))
            await asyncio.sleep(0.01)


async def until_kept(at_work: Following) -> None:
    """Waits until the cursors say that everything is in the index."""
    async with asyncio.timeout(SECONDS):
        while await _kept(at_work) < len(at_work.graph.order):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def _kept(at_work: Following) -> int:
    return sum(at.number for at in (await at_work.lab.index.cursors()).values())


async def test_a_part_that_somebody_deleted_is_built_anew(at_work: Following) -> None:
    """S10 The cursors are of no use without the parts that they are about."""
    await at_work.write(plain_state("a", 1, "red fox"))
    await at_work.stop()
    await at_work.lab.index.remove(SPACE)
    at_work.follow()

    assert (await at_work.reached(1)).memories == 1


async def test_nothing_runs_for_a_space_that_rests(at_work: Following) -> None:
    """S10 Must hold: no task, and no open feed, for a space with nothing to apply."""
    for count in (3, 100):
        for number in range(count):
            await at_work.write(plain_state("a", number + 1), space=f"space {number}")
        await until(lambda: not any(at_work.progress.lag().values()))
        await asyncio.sleep(0.05)
        running = len(at_work.background.running)
        if count == 3:
            few = running

    assert running == few
    assert at_work.graph.connections == 1


async def test_a_token_is_waited_for_in_a_space_that_nobody_used_since_the_start(
    at_work: Following,
) -> None:
    """S10 How far a resting space is in the index is asked of the index: no read waits, or lies."""
    await at_work.write(plain_state("a", 1))
    await at_work.stop()
    at_work.follow()
    await until(lambda: at_work.progress.following)

    await at_work.progress.wait(SPACE, Demand(SPACE, "epoch-1", 1), 0.0)

    assert at_work.progress.of(SPACE).applied_seq == 1
    with pytest.raises(FreshnessTokenInvalid, match="restored"):
        await at_work.progress.wait("never written", Demand("never written", "epoch-0", 1), 0.0)
