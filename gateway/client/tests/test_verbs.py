"""The client for programs: its verbs, called and awaited, on a real system in the same process."""

import inspect
import pydoc
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path

import a_users_program
import concord_client
import pytest
from concord_client import AsyncConcord, Concord, Fact
from concord_client.verbs.things import WrittenMemory

PROGRAM = Path(a_users_program.__file__)


def test_a_program_of_its_users_runs(tmp_path: Path) -> None:
    """W4 On a whole Concord in the caller's own process, which alone has the directory."""
    with concord_client.embedded(tmp_path / "data") as concord:
        a_users_program.main(concord)
        with pytest.raises(Exception, match="data"), concord_client.embedded(tmp_path / "data"):
            pass
    with concord_client.embedded(tmp_path / "data") as again:
        assert [each.name for each in again.neighbors("Ada", relations=["KNOWS"])] == ["Ethr"]
        again.link("Ethr", "LIVES_IN", "Husum")
        found = again.search("What does Ada like?")
        assert found.results[0].provenance in found.context
        assert found.results[0].memory.origin == "AGENT"
        packed = again.search("What does Ada like?", pack_tokens=100)
        assert 0 < len(packed.context.encode()) <= 300
        assert len(packed.context) < len(found.context)
        again.link("Ada", "FRIEND", "Ethr")
        edges = again.search("Who lives in Husum?", include_edges=True).edges
        assert [(each.edge.source, each.edge.target) for each in edges[:1]] == [("Ethr", "Husum")]
        assert again.search("Who lives in Husum?").edges == ()
        asked = "Where does Ada's friend live?"
        tries = (again.search(asked, pack_tokens=500).paths for _ in range(10))
        (path,) = next(filter(None, tries))  # busy machines need more than 1 s
        assert [each.relation for each in path] == ["FRIEND", "LIVES_IN"]
        followed = again.follow("Ada", "KNOWS", "LIVES_IN")
        assert followed is not None
        assert (followed.ends, followed.unheld_hop) == (("Husum",), 0)
        assert [each.name for each in again.neighbors("Husum", direction="INCOMING")] == ["Ethr"]
        assert again.follow("Nobody", "KNOWS") is None


async def test_both_clients_have_the_same_verbs(tmp_path: Path) -> None:
    """W4 Awaited, they do and refuse the same; a search sees what its client wrote."""
    async with concord_client.embedded_async(tmp_path / "data") as concord:
        for number in range(20):
            told = await concord.add(f"Note {number} of the harbour.")
            found = await concord.search(f"Note {number} of the harbour", limit=20)
            assert told.id in {each.memory.id for each in found.results}, number
        with pytest.raises(concord_client.FieldInvalid) as refused:
            await concord.add("")
        assert [each.field for each in refused.value.violations] == ["memory.content"]
        first = await concord.add("The depot is in Hamburg.")
        second = await concord.add(f"The depot is in Bremen. Supersedes: [[memory:{first.id}]]")
        chain = await concord.search("Where is the depot?", limit=1, history=True)
        assert [each.memory.id for each in chain.results] == [first.id, second.id]
        assert await concord.get("nowhere") is None
        gone = await concord.add("It goes.")
        await concord.forget(gone.memory)
        with pytest.raises(concord_client.EtagMismatch):
            await concord.forget(gone.memory)
    verbs = {name for name in dir(Concord) if not name.startswith("_")}
    assert verbs == {name for name in dir(AsyncConcord) if not name.startswith("_")}


def test_help_shows_the_arguments() -> None:
    """W4 Of both clients, of the class and of an instance; what is awaited is said to be."""
    called, awaited = inspect.signature(Concord.forget), inspect.signature(AsyncConcord.forget)
    assert called.return_annotation is WrittenMemory
    assert awaited.return_annotation == Awaitable[WrittenMemory]
    for client in (Concord, AsyncConcord):
        search = inspect.signature(client.search)
        assert list(search.parameters)[:3] == ["self", "query", "limit"]
        assert search.parameters["limit"].default == 10
        bound = inspect.signature(client(None).search)  # type: ignore[arg-type] # makes no call
        assert list(bound.parameters)[:2] == ["query", "limit"]
        page = pydoc.plain(pydoc.render_doc(client))
        assert "search(self, query: str, *, limit: int = 10, " in page
        assert "Find memories by meaning and by words." in page
        assert "*args" not in page


def test_the_page_of_verbs_is_fresh() -> None:
    """W4 If not: python gateway/client/dev/verbs_page.py > gateway/client/VERBS.md."""
    client = Path(__file__).parents[1]
    made = subprocess.run(
        [sys.executable, client / "dev/verbs_page.py"], capture_output=True, check=True
    ).stdout.decode()
    assert made == (client / "VERBS.md").read_text("utf-8")
    verbs = {name for name in dir(Concord) if not name.startswith("_")} - {"take", "run"}
    assert verbs <= {line.removeprefix("### ") for line in made.splitlines()}


def test_each_write_lists_what_gave_way(tmp_path: Path) -> None:
    """W9 W4 Added, updated and related memories, and edges; what hides nothing has none."""
    with concord_client.embedded(tmp_path / "data") as concord:
        first, second, third = (concord.add(text) for text in ("One.", "Two.", "Three."))
        added = concord.add("Four.", supersedes=[first.id], amends=[second.id])
        updated = concord.update(
            added.memory, content=f"{added.memory.content}\n\nDeprecates: [[memory:{third.id}]]"
        )
        related = concord.relate(concord.add("Five.").id, "SUPERSEDES", updated.id)

        assert first.gave_way == ()
        assert {each.id: each.relation for each in added.gave_way} == {
            first.id: "SUPERSEDES",
            second.id: "AMENDS",
        }
        assert {each.by_id for each in added.gave_way} == {added.id}
        assert [(e.id, e.relation) for e in updated.gave_way] == [(third.id, "DEPRECATES")]
        assert [each.id for each in related.gave_way] == [updated.id]
        assert concord.link("Ada", "KNOWS", "Bo").gave_way == ()
        assert concord.forget(updated).gave_way == ()


def test_what_matters_here_is_suggested(tmp_path: Path) -> None:
    """S9 W4 By a trigger that the caller stated, once a session; a malformed one is refused."""
    with concord_client.embedded(tmp_path / "data") as concord:
        mine = concord.add("Migrations run before the deploy.", surfaces_when=["file:*.sql"])
        here = concord.suggest(file="db/new.sql", session_id="s")
        assert [(each.memory.id, each.trigger) for each in here] == [(mine.id, "file:*.sql")]
        assert 0 <= here[0].score <= 1
        assert concord.suggest(file="db/new.sql", session_id="s") == ()
        assert len(concord.suggest(file="db/new.sql", session_id="s", repeat=True)) == 1
        assert concord.suggest(file="db/new.py") == ()
        assert mine.memory.surfaces_when == ("file:*.sql",)
        other = concord.update(mine.memory, surfaces_when=["file:*.py"])
        assert [each.trigger for each in concord.suggest(file="db/new.py")] == ["file:*.py"]
        assert concord.suggest(file="db/new.sql") == ()
        concord.update(other, surfaces_when=[])
        assert concord.suggest(file="db/new.py") == ()
        for wrong in ("file:[z-a]", "error:("):
            with pytest.raises(concord_client.FieldInvalid):
                concord.add("It never surfaces.", surfaces_when=[wrong])


def test_what_is_wrong_is_told_by_its_type(tmp_path: Path) -> None:
    """W4 G1 By kind of refusal; its reason and words are there, too."""
    with concord_client.embedded(tmp_path / "data") as concord:
        memory = concord.add("Ada likes tea.", facts=[Fact("Ada", "LIKES", "tea")]).memory
        kinds: Mapping[type[concord_client.Refused], Callable[[], object]] = {
            concord_client.FieldInvalid: lambda: concord.search("x", limit=1000),
            concord_client.NotFound: lambda: concord.forget(replace(memory, id="nowhere")),
        }
        for kind, call in kinds.items():
            with pytest.raises(kind):
                call()
        with pytest.raises(concord_client.NotFound, match="Similar names: tea"):
            concord.search("x", node="teaa")
        concord.add("It rains.")
        (found,) = concord.search("What is there?", node="tea").results
        assert found.memory.id == memory.id
        stranger = Concord.connect(concord.stubs.url, "ck_" + "a" * 43)
        with pytest.raises(concord_client.NotPermitted), stranger:
            stranger.get(memory.id)


def test_what_opposes_is_brought_together(tmp_path: Path) -> None:
    """W4 D10 A run's events are called with as they come, its end is the result; its query sees
    what this client wrote before; a failed run and a refused one raise by kind."""
    heard: list[concord_client.Event] = []
    with concord_client.embedded(tmp_path / "data") as concord:
        mine = concord.add("The bridge is open to lorries.", tags=["bridge"])
        theirs = concord_client.ThesisInput(
            "The bridge is not open to lorries.", confidence=0.9, authority=0.0
        )
        found = concord.synthesize(
            "May lorries use it?",
            results=[concord_client.AgentResult("guard", theses=[theirs])],
            memory_ids=[mine.id],
            keep=True,
            on_event=heard.append,
        )
        assert [each.agent_source for each in found.theses] == ["guard", "memory 1"]
        assert found.theses[0].authority == 0.0
        assert [each.strategy for each in found.contradictions] == [""]
        assert found.contradictions[0].prevailing is None
        assert (found.is_complete, found.review) == (False, None)
        assert [each.number for each in heard] == [*range(1, len(heard) + 1)]
        assert {each.run_id for each in heard} == {found.run_id}
        told = [each.contradiction for each in heard if each.contradiction]
        assert told == list(found.contradictions)
        assert [thesis for each in heard for thesis in each.theses] == list(found.theses)
        kept = concord.search("May lorries use the bridge?", kinds=["INSIGHT"])
        assert [each.memory.id for each in kept.results] == [found.memory_id]
        for number in range(20):
            note = concord.add(f"Note {number} of the harbour.").id
            seen = concord.synthesize(query=f"Note {number} of the harbour", limit=20).theses
            assert note in {each.memory_id for each in seen}, number
        with pytest.raises(concord_client.NotFound):
            concord.synthesize(memory_ids=["nowhere"])
        with pytest.raises(concord_client.FieldInvalid):
            concord.synthesize()
        with pytest.raises(concord_client.Refused) as refused:
            concord.review_answer("May they?", "They may.")
        assert refused.value.reason == "ERROR_REASON_REVIEWERS_MISSING"


def checked(folder: Path, **programs: str) -> str:
    """What mypy says of programs, by their names; their imports are read once for all of them."""
    for name, source in programs.items():
        (folder / f"{name}.py").write_text(source)
    # What `embedded` starts is every service: the client's types do not depend on theirs.
    (folder / "mypy.ini").write_text("[mypy]\n[mypy-concord_embedded.*]\nfollow_imports = skip\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=mypy.ini", "."],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=280,
    )
    return done.stdout


@pytest.mark.slow
def test_a_planted_mistake_is_found_and_nothing_else(tmp_path: Path) -> None:
    """W4 mypy --strict, with the arguments' own types."""
    source = PROGRAM.read_text()
    said = checked(
        tmp_path, right=source, wrong=source.replace('kind="FACT"', 'kind="NOVEL"', 1)
    ).splitlines()

    (error,) = (line for line in said if "error:" in line)
    assert error.startswith("wrong.py:")
    assert "NOVEL" in error
    assert said[-1] == "Found 1 error in 1 file (checked 2 source files)"
