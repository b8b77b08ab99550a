"""What every index promises: states, supersession, guards, touches, candidates, spaces."""

from pathlib import Path

import numpy as np
import pytest
from concord_search.domain.filters import Superseded
from concord_search.domain.instants import DAY
from concord_search.domain.memory import Ending, Parked, Touch
from concord_search.ports.index import Batch
from search_lab import NOW, SPACE, Lab, OpenLab, plain_state


async def test_a_state_is_found_by_meaning_and_by_words(lab: Lab) -> None:
    """S1 dense and BM25 each generate candidates; every candidate has both raw scores."""
    await lab.write(plain_state("a", 1, "red fox"), plain_state("b", 2, "blue whale"))

    found = await lab.ask("fox")

    assert lab.ids(found)[0] == "a"
    assert found.cosine[0] == pytest.approx(0.7, abs=0.1)
    assert found.lexical[0] > 0
    assert found.lexical[1] == 0


async def test_a_query_of_stop_words_has_no_words(lab: Lab) -> None:
    """S3 the lexical signal can say that it has no data."""
    await lab.write(plain_state("a", 1, "red fox"))

    found = await lab.ask("the and of")

    assert not found.has_words
    assert lab.ids(found) == ["a"]


async def test_a_newer_state_takes_the_place_of_the_older(lab: Lab) -> None:
    """S10, T3 one point per state; the newest closes its predecessor's record interval."""
    await lab.write(plain_state("a", 1, "red fox"))
    await lab.write(plain_state("a", 5, "blue whale"))

    found = await lab.ask("red fox")

    assert lab.ids(found) == ["a"]
    assert found.seqs.tolist() == [5]
    assert (await lab.index.states())[SPACE].memories == 1


async def test_an_older_event_never_overwrites_a_newer_state(lab: Lab) -> None:
    """S10 the revision guard."""
    await lab.write(plain_state("a", 5, "blue whale"))
    await lab.write(plain_state("a", 1, "red fox"))

    found = await lab.ask("red fox")

    assert found.seqs.tolist() == [5]


async def test_applying_twice_changes_nothing(lab: Lab) -> None:
    """S10 the feed may repeat itself."""
    states = [plain_state("a", 1, "red fox"), plain_state("a", 2, "red panda")]
    await lab.write(*states)
    before = (await lab.ask("red"), await lab.index.states())
    await lab.write(*states)
    after = (await lab.ask("red"), await lab.index.states())

    assert after[1] == before[1]
    assert after[0].seqs.tolist() == before[0].seqs.tolist() == [2]


async def test_supersession_begins_at_its_instant(lab: Lab) -> None:
    """T2, T4 is_superseded is evaluated at the instant asked about, not when it was written."""
    await lab.write(plain_state("a", 1, "red fox", superseded_from=NOW + DAY))

    today = await lab.ask("fox")
    on_the_day = await lab.ask("fox", now=NOW + DAY)
    with_all = await lab.ask("fox", now=NOW + DAY, superseded=Superseded.INCLUDE)

    assert [len(each) for each in (today, on_the_day, with_all)] == [1, 0, 1]


async def test_a_memory_shows_only_while_it_holds(lab: Lab) -> None:
    """T3, T4 the stated interval is half-open and applies before supersession."""
    held = plain_state("a", 1, "red fox", valid_from=NOW + 10, stated_until=NOW + 20)
    await lab.write(held)

    async def shown(now: int, mode: Superseded) -> int:
        return len(await lab.ask("fox", now=now, superseded=mode))

    for mode in (Superseded.EXCLUDE, Superseded.INCLUDE):
        assert [await shown(NOW + at, mode) for at in (9, 10, 19, 20)] == [0, 1, 1, 0]
    assert await shown(NOW, Superseded.HISTORY) == 1


async def test_a_forgotten_memory_is_not_found_until_it_is_restored(lab: Lab) -> None:
    """M4 forgetting closes the newest state; restoring makes a new one."""
    await lab.write(plain_state("a", 1, "red fox"))
    await lab.index.apply(SPACE, Batch(2, NOW, endings=[Ending("a", 2, NOW)]))
    forgotten = await lab.ask("fox", superseded=Superseded.HISTORY)
    memories = (await lab.index.states())[SPACE].memories
    await lab.write(plain_state("a", 3, "red fox"))
    restored = await lab.ask("fox")

    assert (len(forgotten), memories) == (0, 0)
    assert restored.seqs.tolist() == [3]


async def test_a_state_from_before_the_forgetting_does_not_bring_it_back(lab: Lab) -> None:
    """S10 the revision guard knows of endings too."""
    await lab.write(plain_state("a", 1, "red fox"))
    await lab.index.apply(SPACE, Batch(5, NOW, endings=[Ending("a", 5, NOW)]))
    await lab.write(plain_state("a", 3, "red fox"))

    assert len(await lab.ask("fox")) == 0


async def test_reads_rewrite_only_the_newest_states_access(lab: Lab) -> None:
    """G6 touches change the access fields and nothing else; an older count changes nothing."""
    await lab.write(plain_state("a", 1, "red fox"), plain_state("a", 2, "red fox"))
    await lab.index.apply(SPACE, Batch(3, NOW, touches=[Touch("a", 7, NOW)]))
    await lab.index.apply(SPACE, Batch(4, NOW, touches=[Touch("a", 3, NOW - 5), Touch("x", 1, 1)]))

    found = await lab.ask("fox")

    assert (found.access_count.tolist(), found.last_access.tolist()) == ([7], [NOW])
    assert found.seqs.tolist() == [2]


async def test_an_erased_memory_leaves_no_point(lab: Lab) -> None:
    """M4 erasing removes every state of a memory."""
    await lab.write(plain_state("a", 1, "red fox"), plain_state("a", 2, "red fox two"))
    await lab.index.apply(SPACE, Batch(3, NOW, erased=["a", "unknown"]))
    await lab.write(plain_state("b", 4, "red fox"))

    found = await lab.ask("fox", superseded=Superseded.HISTORY)

    assert lab.ids(found) == ["b"]
    assert (await lab.index.states())[SPACE].memories == 1


async def test_a_state_with_the_same_text_needs_no_new_vector(lab: Lab) -> None:
    """S10 when only supersession changed, the vector is taken over."""
    await lab.write(plain_state("a", 1, "red fox"))
    changed = plain_state("a", 2, "red fox", superseded_from=NOW - 1)
    wanted = await lab.index.unembedded(
        SPACE, [changed, plain_state("a", 2, "other"), plain_state("b", 2)]
    )
    await lab.index.apply(SPACE, Batch(2, NOW, states=[(changed, None)]))

    found = await lab.ask("fox", superseded=Superseded.INCLUDE)

    assert wanted == [False, True, True]
    assert found.seqs.tolist() == [2]
    assert found.cosine[0] == pytest.approx(0.7, abs=0.1)


async def test_candidates_carry_what_the_signals_need(lab: Lab) -> None:
    """S3 concepts, domains, importance, access and heads come with each candidate."""
    await lab.write(
        plain_state("a", 1, "fox", concepts=("x", "y", "z"), domain="work.hr", importance=3),
        plain_state("b", 2, "fox", concepts=(), domain="work.it", importance=1, predecessors=1),
        plain_state("c", 3, "fox", concepts=("y",), domain="work", importance=2, access_count=4),
    )

    found = await lab.ask("fox", concepts=("y", "z", "w"), domain="work.hr")

    by_id = {name: at for at, name in enumerate(lab.ids(found))}
    order = [by_id[name] for name in "abc"]
    assert found.shared_concepts[order].tolist() == [2, 0, 1]
    assert found.all_concepts[order].tolist() == [4, 3, 3]
    assert found.domain_match[order].tolist() == [1.0, 0.5, 0.0]
    assert found.importance[order].tolist() == [1.0, 0.3, 0.6]
    assert found.access_count[order].tolist() == [0, 0, 4]
    assert found.is_head[order].tolist() == [False, True, False]


async def test_only_named_memories_are_scored_when_asked(lab: Lab) -> None:
    """T4 history scores whole chains, whatever their words."""
    await lab.write(*(plain_state(name, at + 1, name * 3) for at, name in enumerate("abc")))

    found = await lab.ask("zzz", only=("a", "c", "unknown"))

    assert sorted(lab.ids(found)) == ["a", "c"]


async def test_spaces_share_nothing(lab: Lab) -> None:
    """G13, S1 a space's scores do not depend on what another holds, nor are ids told across."""
    await lab.write(plain_state("a", 1, "red fox"), plain_state("b", 2, "red whale"))
    before = await lab.ask("fox")
    await lab.index.begin("other", "epoch-1")
    others = [plain_state(f"o{at}", at + 1, "red fox fox") for at in range(50)]
    await lab.write(*others, space="other")

    after = await lab.ask("fox")

    assert after.lexical.tolist() == before.lexical.tolist()
    assert list(after.items) == list(before.items)
    nowhere = await lab.ask("fox", space="unheard of")
    assert len(nowhere) == 0


async def test_everything_is_there_after_reopening(tmp_path: Path, open_lab: OpenLab) -> None:
    """S10 applied_seq, access data, endings and parked changes survive a restart."""
    first = await open_lab(tmp_path)
    await first.write(plain_state("a", 1, "red fox"), plain_state("b", 2, "blue whale"))
    await first.write(plain_state("a", 3, "red panda"))
    parked = [Parked(4, "secret-name", "no")]
    await first.index.apply(SPACE, Batch(4, NOW, endings=[Ending("b", 4, NOW)], parked=parked))
    await first.index.apply(SPACE, Batch(5, NOW, touches=[Touch("a", 7, NOW)]))
    before = (await first.ask("red"), dict(await first.index.states()))
    await first.index.close()

    second = await open_lab(tmp_path)
    after = (await second.ask("red"), await second.index.states())

    assert after[1] == before[1]
    assert after[1][SPACE].applied_seq == 5
    assert after[1][SPACE].parked[0].item_id == "secret-name"
    for column in ("seqs", "access_count", "last_access", "cosine", "lexical"):
        assert np.array_equal(getattr(after[0], column), getattr(before[0], column))


async def test_another_epoch_empties_the_part(lab: Lab) -> None:
    """S10 what was derived from a store that was restored is void."""
    await lab.write(plain_state("a", 1, "red fox"))
    await lab.index.begin(SPACE, "epoch-1")
    kept = (await lab.index.states())[SPACE]
    await lab.index.begin(SPACE, "epoch-2")
    emptied = (await lab.index.states())[SPACE]

    assert (kept.applied_seq, kept.memories) == (1, 1)
    assert (emptied.epoch, emptied.applied_seq, emptied.memories) == ("epoch-2", 0, 0)
