"""What a client pins is kept under a name that no server chooses (V5, A2)."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from concord.governance.v1.principal_pb2 import GetPrincipalsResponse
from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND, LOOKUP_STATUS_NOT_FOUND
from concord_client.cli.governance import verification
from concord_client.credentials import system_name
from concord_client.trust.audit.log import Pinned
from concord_client.trust.pins import MOST_CHECKPOINTS, PinFile, Seen, state_file
from concord_client.trust.witness import Meeting, Witness, WitnessError
from concord_testing.up_process import clean_environ

OURS, THEIRS = "0f" * 32, "1e" * 32


def system(genesis: str = OURS, log_key: bytes = b"k" * 32) -> GetPrincipalsResponse:
    """What a system shows of itself."""
    status = LOOKUP_STATUS_FOUND if genesis else LOOKUP_STATUS_NOT_FOUND
    return GetPrincipalsResponse(
        status=status, genesis_digest=genesis, log_key=log_key, log_origin="concord/default"
    )


@dataclass
class Client:
    """A client's memory, whatever it calls a system."""

    file: Path

    def meet(self, told: GetPrincipalsResponse, name: str = "/data", trusted: str = "") -> Meeting:
        """What it makes of an answer."""
        return Witness(self.file, name, "default").meet(told, trusted)


def test_a_client_of_these_tests_keeps_no_pins_in_the_users_home() -> None:
    """V5 Whoever runs the tests has pins of their own, of systems that they trust."""
    assert not state_file(clean_environ()).is_relative_to(Path.home() / ".local")


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """A client that has seen nothing."""
    return Client(tmp_path / "state.json")


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"CONCORD_DATA": "/d/../data"}, "/data"),
        ({"CONCORD_DATA": "/data", "CONCORD_URL": "host:7600"}, "host:7600"),
        ({"XDG_DATA_HOME": "/home/x"}, "/home/x/concord"),
    ],
)
def test_a_system_has_the_name_that_its_user_gave_it(environ: dict[str, str], name: str) -> None:
    """V5 The path or the address that was given; what `credentials.json` holds is not read."""
    assert system_name(environ) == name


def test_a_first_contact_is_said_aloud_and_once(client: Client) -> None:
    """V5 What is believed because it was shown first is named, with what it is believed of."""
    first = client.meet(system())
    again = client.meet(system())

    (said,) = first.news
    assert said.startswith("FIRST CONTACT with the space 'default' of /data")
    assert OURS in said
    assert again.news == ()


def test_a_genesis_that_comes_later_is_said_aloud(client: Client) -> None:
    """V5 A space without one is no reason to believe the next one silently."""
    client.meet(system(""))
    later = client.meet(system())

    assert ["FIRST CONTACT with the genesis" in line for line in later.news] == [True]
    assert not later.seen.genesis_confirmed


def test_a_genesis_that_was_signed_here_is_kept_as_that(client: Client) -> None:
    """V5 It is not believed because somebody showed it; and nothing else is taken for it."""
    client.meet(system(""))
    with pytest.raises(WitnessError, match="not " + OURS):
        client.meet(system(THEIRS), trusted=OURS)
    own = client.meet(system(), trusted=OURS)

    assert own.news == ()
    assert own.seen.genesis_confirmed


@pytest.mark.parametrize(
    ("shown", "what"),
    [
        (system(THEIRS), "ANOTHER GENESIS"),
        (system(""), "ANOTHER GENESIS"),
        (system(log_key=b"x" * 32), "ANOTHER AUDIT LOG'S KEY"),
    ],
)
def test_under_its_name_nothing_else_is_believed(
    client: Client, shown: GetPrincipalsResponse, what: str
) -> None:
    """V5 A2 Whatever address answers, the name is the user's."""
    client.meet(system())

    with pytest.raises(WitnessError, match=what):
        client.meet(shown)


def test_another_genesis_under_another_name_is_not_believed_unasked(client: Client) -> None:
    """V5 Refused with both digests, until somebody names the new one."""
    client.meet(system())

    with pytest.raises(WitnessError) as caught:
        client.meet(system(THEIRS), "host:1")
    with pytest.raises(WitnessError):
        client.meet(system(THEIRS), "host:1", trusted=OURS)
    assert Witness(client.file, "host:1", "default").seen == Seen()
    client.meet(system(THEIRS), "host:1", trusted=THEIRS)

    assert OURS in str(caught.value)
    assert THEIRS in str(caught.value)
    assert "--trust" in str(caught.value)
    assert client.meet(system(THEIRS), "host:1").seen.genesis_confirmed
    assert client.meet(system()).seen.genesis_digest == OURS


def test_a_genesis_after_a_first_contact_is_not_believed_unasked_either(client: Client) -> None:
    """V5 A system that shows none first, then one, is no way around what is known elsewhere."""
    client.meet(system())
    first = client.meet(system("", b"x" * 32), "host:1")

    assert OURS in first.news[0], "the other system is named at once"
    with pytest.raises(WitnessError, match="ANOTHER GENESIS"):
        client.meet(system(THEIRS, b"x" * 32), "host:1")


def test_the_same_system_under_another_name_keeps_its_pins(client: Client) -> None:
    """A2 By address or by directory: what was seen of it counts under every name."""
    client.meet(system())
    Witness(client.file, "/data", "default").keep_consent("p", "AGENT", b"{}")
    met = client.meet(system(), "host:1")

    assert ["is what was met as /data" in line for line in met.news] == [True]
    assert met.seen.names == ("/data", "host:1")
    assert Witness(client.file, "host:1", "default").consent("p", "AGENT") == b"{}"
    with pytest.raises(WitnessError, match="ANOTHER GENESIS"):
        client.meet(system(THEIRS), "host:1")


def test_spaces_are_kept_apart(client: Client) -> None:
    """V5 G13 Another space of the same system has a genesis of its own."""
    client.meet(system())
    other = Witness(client.file, "/data", "work").meet(system(THEIRS, b"x" * 32))

    assert other.news[0].startswith("FIRST CONTACT with the space 'work'")


@pytest.mark.parametrize("content", ["{", "[]", '{"systems": [{}]}', '{"systems": 1}'])
def test_a_damaged_memory_is_not_an_empty_one(client: Client, content: str) -> None:
    """V5 A file that cannot be read is said to be damaged; nothing is believed in its place."""
    client.file.write_text(content)

    with pytest.raises(WitnessError, match="is damaged"):
        client.meet(system())


def test_the_first_checkpoint_and_the_newest_are_kept() -> None:
    """A2 As many as older exports need, and no more."""
    seen = Seen()
    for number in range(MOST_CHECKPOINTS + 9):
        seen = seen.with_checkpoint(f"note {number}")

    notes = [each["note"] for each in seen.checkpoints]
    assert seen.with_checkpoint(seen.checkpoint) is seen
    assert len(notes) == MOST_CHECKPOINTS
    assert (notes[0], notes[1], notes[-1]) == ("note 0", "note 10", f"note {MOST_CHECKPOINTS + 8}")


NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age", "said"),
    [
        (timedelta(seconds=3), "ONLY 3 seconds ago (2026-11-21 11:59:57Z)"),
        (timedelta(minutes=1), "ONLY 1 minute ago (2026-11-21 11:59:00Z)"),
        (timedelta(hours=2), "pinned 2 hours ago"),
        (timedelta(days=40), "pinned 40 days ago"),
    ],
)
def test_a_verdict_says_how_old_its_pins_are(client: Client, age: timedelta, said: str) -> None:
    """A2 V5 When and where a pin was taken; one of seconds ago is not told as an old one."""
    client.meet(system())
    time = (NOW - age).isoformat(timespec="seconds")
    (seen,) = PinFile(client.file).read()
    seen = replace(seen, met_time=time, genesis_time=time)

    key, genesis, checkpoints = verification.trusted(
        verification.Known(seen, Pinned(seen.public_key, seen.genesis_digest)), NOW
    )

    assert said in key
    assert said in genesis
    assert key.endswith("met as /data")
    assert genesis.endswith("believed as first shown")
    assert checkpoints == "NO CHECKPOINT KEPT BEFORE"


CASES: list[tuple[Pinned, list[str]]] = [
    (Pinned(), ["THE LOG'S KEY AS THE FILE STATES IT", "THE GENESIS AS THE FILE STATES IT"]),
    (Pinned(b"x" * 32, THEIRS), ["the log's key as given", "the genesis as given"]),
]


@pytest.mark.parametrize(("pinned", "said"), CASES)
def test_a_verdict_says_what_was_not_pinned_here(pinned: Pinned, said: list[str]) -> None:
    """A2 Given by hand, or believed from the file itself."""
    assert verification.trusted(verification.Known(Seen(), pinned), NOW)[:2] == said
