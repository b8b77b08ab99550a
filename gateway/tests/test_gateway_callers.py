"""Whom a key stands for: what the gateway holds of governance's answers, and for how long."""

import asyncio
from dataclasses import dataclass, field

import grpc
import pytest
from concord_chassis.call.identity import Caller
from concord_gateway.callers import MOST_HELD, ApiKey, Callers, Refusal
from concord_gateway.credentials import digest_of, new_key
from concord_gateway.errors import GovernanceSilent
from concord_gateway.governance import ANSWERS_WITHIN, FIRST_WITHIN
from gateway_echo import READER, WRITER, Dynamic, Front, Request, eventually, with_key
from gateway_refusals import refusal

KEY = ApiKey("k-1", WRITER)


@dataclass
class World:
    """Governance, as one digest sees it, and a clock."""

    now: float = 1_000.0
    answer: ApiKey | Refusal | None = KEY
    asked: list[str] = field(default_factory=list)
    were_known: list[bool] = field(default_factory=list)
    held_up: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.held_up.set()
        self.callers = Callers(self.ask, now=lambda: self.now, wall=lambda: self.now)

    async def ask(self, digest: str, is_known: bool) -> ApiKey | Refusal:
        """Answers, or is silent while there is no answer."""
        self.asked.append(digest)
        self.were_known.append(is_known)
        await self.held_up.wait()
        if self.answer is None:
            raise GovernanceSilent
        return self.answer


async def test_an_answer_holds_five_seconds_and_a_revocation_takes_hold_then() -> None:
    """W7 While governance answers, a revoked key opens nothing after 5 s."""
    world = World()
    assert await world.callers.holder("d") == KEY
    world.answer = Refusal.UNKNOWN

    world.now += 4.9
    assert await world.callers.holder("d") == KEY
    world.now += 0.1
    assert await world.callers.holder("d") is Refusal.UNKNOWN
    assert world.asked == ["d", "d"]


async def test_the_first_question_about_a_key_says_so() -> None:
    """W7 W10 a key without a cached answer waits for governance longer than one that has another
    answer to go by: 256 clients that begin at once met UNAVAILABLE after 2 s."""
    world = World()
    await world.callers.holder("d")
    world.now += 5.0
    await world.callers.holder("d")

    assert world.were_known == [False, True]
    assert FIRST_WITHIN > ANSWERS_WITHIN


async def test_an_answers_age_counts_from_the_question() -> None:
    """W7 What governance looked up before a revocation is not held 5 s from its late arrival."""
    world = World()
    world.held_up.clear()
    asking = asyncio.create_task(world.callers.holder("d"))
    await eventually(lambda: bool(world.asked))
    world.now += 4
    world.held_up.set()
    assert await asking == KEY

    world.now += 1
    await world.callers.holder("d")
    assert len(world.asked) == 2


async def test_the_last_known_answer_serves_a_minute_of_silence() -> None:
    """W7 Governance is down: known keys open for 60 s, then nobody is let in."""
    world = World()
    await world.callers.holder("d")
    asked_at, world.answer = world.now, None

    for seconds in (5, 6, 30, 59.9):
        world.now = asked_at + seconds
        assert await world.callers.holder("d") == KEY
        assert world.callers.recently_answered()
    world.now = asked_at + 60
    with pytest.raises(GovernanceSilent):
        await world.callers.holder("d")
    assert not world.callers.recently_answered()
    with pytest.raises(GovernanceSilent):
        await world.callers.holder("another")


async def test_known_keys_do_not_wait_for_silence_with_each_call() -> None:
    """W7 Of a governance that hangs, known keys ask once a second, and hear its return then."""
    world = World()
    await world.callers.holder("d")
    world.answer = None
    world.now += 10
    for _ in range(5):
        await world.callers.holder("d")
    assert len(world.asked) == 2

    world.answer = Refusal.UNKNOWN
    world.now += 1
    assert await world.callers.holder("d") is Refusal.UNKNOWN


async def test_an_unknown_key_is_asked_about_once_a_second() -> None:
    """W7 Unknown keys are held 1 s: a key that is made then opens."""
    world = World(answer=Refusal.UNKNOWN)
    for _ in range(3):
        assert await world.callers.holder("d") is Refusal.UNKNOWN
    assert len(world.asked) == 1

    world.answer = KEY
    world.now += 1
    assert await world.callers.holder("d") == KEY


async def test_unknown_keys_do_not_fill_the_memory() -> None:
    """W7 At most 10,000 are held; the oldest is asked about again, the newest is not."""
    world = World(answer=Refusal.UNKNOWN)
    assert MOST_HELD == 10_000
    for index in range(MOST_HELD + 1):
        await world.callers.holder(str(index))

    await world.callers.holder(str(MOST_HELD))
    assert len(world.asked) == MOST_HELD + 1
    await world.callers.holder("0")
    assert len(world.asked) == MOST_HELD + 2


async def test_a_key_that_expires_while_it_is_held_opens_nothing() -> None:
    """W7 The gateway's own clock ends it, whenever governance was asked."""
    world = World()
    world.answer = ApiKey("k-1", WRITER, expires_at=world.now + 2)

    assert await world.callers.holder("d") == world.answer
    world.now += 2
    assert await world.callers.holder("d") is Refusal.EXPIRED


async def test_calls_at_once_ask_once_and_one_that_leaves_takes_nobody_along() -> None:
    """W7 Concurrent first calls of one key make one question."""
    world = World()
    world.held_up.clear()
    calls = [asyncio.create_task(world.callers.holder("d")) for _ in range(20)]
    await eventually(lambda: bool(world.asked))
    calls[0].cancel()
    world.held_up.set()

    assert [await call for call in calls[1:]] == [KEY] * 19
    assert world.asked == ["d"]


async def test_through_the_door_governance_is_asked_once_about_the_digest(door: Front) -> None:
    """W7 It never sees the key; twenty first calls over both protocols make one question."""
    door.keys.answering.clear()
    calls = [asyncio.ensure_future(door.stub.say(Request(act="caller"))) for _ in range(10)]
    posts = [asyncio.create_task(door.say({"act": "caller"})) for _ in range(10)]
    await eventually(lambda: bool(door.keys.asked))
    door.keys.answering.set()

    assert {(await call).text for call in calls} == {(await post).json()["text"] for post in posts}
    assert [digest_of(door.writer)] == door.keys.asked


async def test_while_governance_is_away_an_unknown_key_is_not_judged(door: Front) -> None:
    """W7 UNAVAILABLE, not UNAUTHENTICATED: the key may well be good. Known ones go on."""
    await door.stub.say(Request())
    await door.governance.server.stop(0)

    await door.stub.say(Request())
    call = door.stub.say(Request(), metadata=door.as_reader)
    assert await refusal(call) == ("UNAVAILABLE", "UNAVAILABLE")
    assert "keys unchecked" in door.logged.getvalue()


async def test_an_expired_key_says_so(door: Front) -> None:
    """W7 CREDENTIAL_EXPIRED: its owner knows to ask for another one."""
    key = new_key()
    door.keys.keys[digest_of(key)] = ApiKey("old", READER, expires_at=1_000.0)

    call = door.stub.say(Request(), metadata=with_key(key))
    assert await refusal(call) == ("UNAUTHENTICATED", "CREDENTIAL_EXPIRED")


async def _read_on(call: Dynamic) -> None:
    while await call.read() is not grpc.aio.EOF:
        pass


async def test_streams_end_when_their_key_is_revoked(
    door: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W7 A stream that was opened before moves nothing more, in either direction."""
    monkeypatch.setattr("concord_gateway.callers.HOLDS", 0.0)
    up = door.stub.collect()
    await up.write(Request(act="a"))
    await eventually(lambda: door.servicer.taken == 1)
    down = door.stub.follow(Request(act="flood"))
    await down.read()

    await _revoked(door)
    await up.write(Request(act="b"))
    with pytest.raises(grpc.aio.AioRpcError):
        await _read_on(down)  # what was written before comes first
    for call in (up, down):
        assert await call.code() is grpc.StatusCode.UNAUTHENTICATED
    assert door.servicer.taken == 1


async def _revoked(door: Front) -> None:
    """Revoke all keys, and wait until the gateway knows: it may be asking about one already."""
    door.keys.keys.clear()
    while await _code(door) is grpc.StatusCode.OK:
        pass


async def _code(door: Front) -> grpc.StatusCode:
    code: grpc.StatusCode = await door.stub.say(Request()).code()
    return code


@pytest.mark.parametrize("method", ["follow", "collect", "converse"])
async def test_a_silent_stream_ends_when_its_key_is_revoked(
    door: Front, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """W7 Nothing moves: the service is silent, or the caller has more to send and does not."""
    monkeypatch.setattr("concord_gateway.callers.HOLDS", 0.0)
    begin, first = getattr(door.stub, method), Request(act="hang")
    if method == "follow":
        call = begin(first)
    else:
        call = begin()
        await call.write(first)
    await eventually(lambda: door.servicer.hanging == 1)

    door.keys.keys.clear()
    assert await call.code() is grpc.StatusCode.UNAUTHENTICATED
    await eventually(lambda: door.servicer.hanging == 0)


async def test_a_stream_that_nobody_reads_ends_when_its_key_is_revoked(
    door: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W7 The service behind a full window stops at once; whoever reads later is told why."""
    monkeypatch.setattr("concord_gateway.callers.HOLDS", 0.0)
    request = Request(act="flood", long_text="x" * 10_000)
    call = door.stub.follow(request)
    await call.read()
    await _stuck(door)

    door.keys.keys.clear()
    await eventually(lambda: door.servicer.cut == ["flood"])
    with pytest.raises(grpc.aio.AioRpcError) as ended:
        await _read_on(call)
    assert ended.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def _stuck(door: Front) -> None:
    """Wait until the service has written nothing for half a second."""
    written = -1
    while written != door.servicer.written:
        written = door.servicer.written
        await asyncio.sleep(0.5)


async def test_an_answer_of_before_the_revocation_does_not_keep_a_stream_open(
    door: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W7 A message joins a question that governance had looked up before the revocation: it goes
    through, and the stream ends though no other message follows."""
    monkeypatch.setattr("concord_gateway.callers.HOLDS", 0.0)
    up = door.stub.collect()
    await up.write(Request(act="a"))
    await eventually(lambda: door.servicer.taken == 1)
    door.keys.answering.clear()
    known = len(door.keys.asked)
    await up.write(Request(act="b"))
    await eventually(lambda: len(door.keys.asked) > known)

    door.keys.keys.clear()
    door.keys.answering.set()
    assert await up.code() is grpc.StatusCode.UNAUTHENTICATED
    assert door.servicer.taken == 2


async def test_the_services_see_the_keys_own_principal(door: Front) -> None:
    """W7 Not one name for all keys: space, principal, kind and permissions are the key's."""
    key = new_key()
    caller = Caller("space-b", "ada", frozenset({"echo:read", "echo:write"}), "HUMAN")
    door.keys.keys[digest_of(key)] = ApiKey("ada-1", caller)

    said = await door.stub.say(Request(act="caller"), metadata=with_key(key))
    for word in ("space-b", "ada", "HUMAN"):
        assert word in said.text
