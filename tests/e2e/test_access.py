"""Spaces and API keys through governance's own server: who may make what, and what is told."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import grpc
import pytest
from access_world import (
    ADMIN,
    AGENT,
    KIND,
    OPERATING,
    OPERATOR,
    READ,
    SCOPE,
    STATUS,
    WRITE,
    AccessClient,
    caller_of,
    holder,
)
from concord.governance.v1 import access_pb2, audit_pb2
from concord.graph.v1 import governed_pb2, governed_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.config import ConfigError
from concord_client.trust import signing
from concord_governance.config import read_keys
from concord_governance.domain.access import PERMISSIONS, SYSTEM_SPACE, Scope
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from governed_world import (
    DAY,
    SECOND,
    Clock,
    Keys,
    Party,
    World,
    reason_of,
    refused,
    request_id,
    world,
)


async def test_a_key_opens_its_space_until_it_is_revoked(live: World, ops: AccessClient) -> None:
    """W7 A gateway hears whom a key stands for, and from its revocation on nothing more."""
    made = await ops.key("team", scopes=[READ, WRITE])
    known = await caller_of(live, made.secret)

    assert made.secret.startswith("ck_")
    assert len(made.secret) == 46
    assert (known.space, known.principal, known.kind) == ("team", "planner", AGENT)
    assert set(known.permissions) == PERMISSIONS[Scope.READ] | PERMISSIONS[Scope.WRITE]
    assert (known.key_id, known.status) == (made.key.id, STATUS.KEY_STATUS_ACTIVE)

    assert (await ops.revoke(made.key)).status == STATUS.KEY_STATUS_REVOKED
    gone = await caller_of(live, made.secret)
    assert gone == access_pb2.GetCallerResponse(
        status=STATUS.KEY_STATUS_REVOKED, key_id=made.key.id
    )
    stranger = await caller_of(live, made.secret + "x")
    assert stranger == access_pb2.GetCallerResponse(status=STATUS.KEY_STATUS_NOT_FOUND)


async def test_no_key_is_in_the_store(live: World, ops: AccessClient) -> None:
    """W7 Keys and enrolment secrets are stored as digests alone: no file holds one."""
    space = await ops.space("other")
    made = await ops.key("other")
    held = b"".join(path.read_bytes() for path in live.folder.rglob("*.db*"))

    assert min(len(space.enrolment_secret), len(made.secret)) > 40
    assert made.secret.encode() not in held
    assert space.enrolment_secret.encode() not in held


async def test_origin_follows_the_principals_kind(ops: AccessClient) -> None:
    """W7 W8 What a key writes comes from where its principal's kind says, unless it is stated."""
    for kind, origin in (("HUMAN", "HUMAN"), ("AGENT", "AGENT"), ("SYSTEM", "TOOL")):
        of_kind = KIND.Value(f"PRINCIPAL_KIND_{kind}")
        made = await ops.key("team", kind=of_kind)
        stated = await ops.key("team", kind=of_kind, origin=type_pb2.ORIGIN_IMPORT)

        assert type_pb2.Origin.Name(made.key.origin) == f"ORIGIN_{origin}"
        assert stated.key.origin == type_pb2.ORIGIN_IMPORT


async def test_a_key_expires(live: World, ops: AccessClient) -> None:
    """W7 A key's time ends by governance's clock; one that is over already is not made."""
    soon = Timestamp(seconds=live.clock.now // SECOND + 60)
    made = await ops.key("team", expire_time=soon)
    assert (await caller_of(live, made.secret)).expire_time == soon

    live.clock.now += 60 * SECOND
    assert (await caller_of(live, made.secret)).status == STATUS.KEY_STATUS_EXPIRED
    failure = await refused(ops.key("team", expire_time=soon))
    assert failure.violations[0].field == "expire_time"
    assert await ops.keys("team") == []
    (listed,) = await ops.keys("team", include_ended=True)
    assert listed.status == STATUS.KEY_STATUS_EXPIRED


async def test_a_rotated_key_overlaps(live: World, ops: AccessClient) -> None:
    """W7 A new key takes an old one's place: both open the space until the overlap is over."""
    old = await ops.key("team", scopes=[READ, WRITE], origin=type_pb2.ORIGIN_TOOL)
    rotation = access_pb2.CreateKeyRequest(
        request_id=request_id(),
        space="team",
        replaces=old.key.id,
        overlap=Duration(seconds=3600),
    )
    new = await ops.stub.CreateKey(rotation)

    assert new.key.id != old.key.id
    assert (new.key.principal, new.key.scopes, new.key.origin) == (
        *(old.key.principal, old.key.scopes, old.key.origin),
    )
    for each in (old, new):
        assert (await caller_of(live, each.secret)).status == STATUS.KEY_STATUS_ACTIVE
    live.clock.now += 3600 * SECOND
    assert (await caller_of(live, old.secret)).status == STATUS.KEY_STATUS_EXPIRED
    assert (await caller_of(live, new.secret)).status == STATUS.KEY_STATUS_ACTIVE
    again = await refused(ops.stub.CreateKey(_anew(rotation)))
    assert reason_of(again)[0] == "ITEM_NOT_FOUND"


async def test_a_rotated_key_ends_when_the_old_one_would(live: World, ops: AccessClient) -> None:
    """W7 Rotation makes no key for ever of one that was to end, unless another time is stated."""
    soon, later = (Timestamp(seconds=live.clock.now // SECOND + more) for more in (60, 120))
    old = await ops.key("team", expire_time=soon)
    rotation = access_pb2.CreateKeyRequest(
        request_id=request_id(),
        space="team",
        replaces=old.key.id,
        overlap=Duration(seconds=10),
    )

    new = await ops.stub.CreateKey(rotation)

    assert new.key.expire_time == (await caller_of(live, new.secret)).expire_time == soon
    stated = access_pb2.CreateKeyRequest(
        request_id=request_id(), space="team", replaces=new.key.id, expire_time=later
    )
    assert (await ops.stub.CreateKey(stated)).key.expire_time == later


def _anew(request: access_pb2.CreateKeyRequest) -> access_pb2.CreateKeyRequest:
    other = access_pb2.CreateKeyRequest()
    other.CopyFrom(request)
    other.request_id = request_id()
    return other


async def test_what_a_key_is_asked_to_be_must_go_together(ops: AccessClient) -> None:
    """W7 A refusal names the field that is missing or one too many."""
    for field, value in {
        **{"principal": "", "kind": 0, "scopes": [], "scopes[0]": [0]},
        **{"overlap": Duration(seconds=1), "replaces": "0" * 12},
    }.items():
        failure = await refused(ops.key("team", **{field.partition("[")[0]: value}))

        assert reason_of(failure)[0] == "FIELD_INVALID"
        assert [each.field for each in failure.violations] == [field]


async def test_an_overlap_is_bounded(ops: AccessClient) -> None:
    """W7 A replaced key stays valid for 90 days at most."""
    old = (await ops.key("team")).key
    request = access_pb2.CreateKeyRequest(space="team", replaces=old.id)
    for seconds, is_refused in ((90 * 86_400 + 1, True), (-1, True), (90 * 86_400, False)):
        request.overlap.seconds = seconds
        call = ops.stub.CreateKey(_anew(request))
        if is_refused:
            assert (await refused(call)).violations[0].field == "overlap"
        else:
            await call


async def test_an_administrator_has_a_say_in_its_own_space_alone(
    live: World, ops: AccessClient
) -> None:
    """W7 An admin makes keys of its own space, with no more than its own space's scopes."""
    await ops.space("other")
    foreign = (await ops.key("other")).key
    admin = AccessClient(live, holder("team", "ada", Scope.ADMIN))
    made = await admin.key(scopes=[READ, WRITE, SCOPE.KEY_SCOPE_GOVERN, ADMIN])

    assert made.key.space == "team"
    for call in (
        admin.key("other"),
        admin.key("nowhere"),
        admin.key(SYSTEM_SPACE, scopes=[OPERATOR]),
        admin.key(scopes=[OPERATOR]),
        admin.stub.ListKeys(access_pb2.ListKeysRequest(space="other")),
    ):
        failure = await refused(call)
        assert (failure.code, *reason_of(failure)) == (
            *(grpc.StatusCode.PERMISSION_DENIED, "KEY_REFUSED", ""),
        )
    seen = await refused(admin.revoke(foreign))
    unknown = await refused(admin.revoke(access_pb2.Key(id="0" * 12)))
    assert (seen.code, str(seen)) == (grpc.StatusCode.NOT_FOUND, str(unknown))
    assert [key.id for key in await admin.keys()] == [made.key.id]
    assert [key.id for key in await ops.keys("other")] == [foreign.id]


async def test_an_administrators_key_of_the_reserved_space_has_no_say(live: World) -> None:
    """W7 Only OPERATOR counts in concord:system: no other key there can make one."""
    admin = AccessClient(live, holder(SYSTEM_SPACE, "ada", Scope.ADMIN))

    failure = await refused(admin.key(scopes=[OPERATOR]))
    assert reason_of(failure)[0] == "KEY_REFUSED"


async def test_an_operators_key_is_of_the_reserved_space(live: World, ops: AccessClient) -> None:
    """W7 OPERATOR stands on keys of concord:system alone, which carry nothing else but READ."""
    made = await ops.key(SYSTEM_SPACE, principal="bob", scopes=[OPERATOR, READ])
    known = await caller_of(live, made.secret)
    assert set(known.permissions) == PERMISSIONS[Scope.OPERATOR] | PERMISSIONS[Scope.READ]

    for space, scopes in ((SYSTEM_SPACE, [WRITE]), (SYSTEM_SPACE, [ADMIN]), ("team", [OPERATOR])):
        assert reason_of(await refused(ops.key(space, scopes=scopes)))[0] == "KEY_REFUSED"


async def test_nobody_is_called_as_a_service_is(ops: AccessClient) -> None:
    """W7 A key's principal cannot pass for one of Concord's own."""
    for name in ("governance", "Gateway", "concord:system", "CONCORD:x"):
        assert reason_of(await refused(ops.key("team", principal=name)))[0] == "RESERVED_NAME"


async def test_a_spaces_name_is_taken_once(ops: AccessClient) -> None:
    """W7 A name that is in use is refused, in another case not; and what no space can be called."""
    assert reason_of(await refused(ops.space("team")))[0] == "ITEM_EXISTS"
    for name in ("", SYSTEM_SPACE, "-a", "a b", "ä", "a" * 129):
        assert reason_of(await refused(ops.space(name)))[0] == "FIELD_INVALID"
    assert reason_of(await refused(ops.key("nowhere")))[0] == "ITEM_NOT_FOUND"
    assert (await ops.space("Team")).space.name == "Team"


async def test_spaces_and_keys_are_paged(ops: AccessClient) -> None:
    """W7 Lists come in pages."""
    for name in ("a", "b"):
        await ops.space(name)
        await ops.key("team", principal=name)
    spaces, keys = (
        access_pb2.ListSpacesRequest(page_size=2),
        access_pb2.ListKeysRequest(space="team", page_size=1),
    )
    first = await ops.stub.ListSpaces(spaces)
    spaces.page_token = first.next_page_token
    rest = await ops.stub.ListSpaces(spaces)
    assert [[each.name for each in page.spaces] for page in (first, rest)] == [["a", "b"], ["team"]]
    assert rest.next_page_token == ""

    newest = await ops.stub.ListKeys(keys)
    keys.page_token = newest.next_page_token
    last = await ops.stub.ListKeys(keys)
    found = {key.principal for page in (newest, last) for key in page.keys}
    assert (found, last.next_page_token) == ({"a", "b"}, "")


async def test_each_space_has_an_enrolment_secret_of_its_own(
    live: World, ops: AccessClient
) -> None:
    """W7 V5 A space's genesis takes the secret that came with it, and no other space's."""
    first, second = await ops.space("a"), await ops.space("b")

    assert reason_of(await refused(_enrol(live, "a", second.enrolment_secret)))[0] == (
        "ENROLMENT_SECRET_INVALID"
    )
    await _enrol(live, "a", first.enrolment_secret)


async def test_a_lost_secret_is_drawn_anew_until_the_genesis(
    live: World, ops: AccessClient
) -> None:
    """W7 V5 The same request again voids the secret whose reply was lost; not after the genesis."""
    request = access_pb2.CreateSpaceRequest(request_id=request_id(), space="a")
    lost = await ops.stub.CreateSpace(request)
    found = await ops.stub.CreateSpace(request)

    assert reason_of(await refused(_enrol(live, "a", lost.enrolment_secret)))[0] == (
        "ENROLMENT_SECRET_INVALID"
    )
    await _enrol(live, "a", found.enrolment_secret)
    last = await ops.stub.CreateSpace(request)
    assert (last.enrolment_secret, last.space) == ("", found.space)


async def _enrol(live: World, space: str, secret: str) -> None:
    """Perform a space's genesis against a secret."""
    party = Party(space, *_channels(live, space), live.clock)
    genesis = signing.sign_genesis(
        space=space,
        agent=party.agent,
        human=party.human,
        governance_key=signing.public_bytes(signing.generate_key()),
        create_time=datetime.now(UTC),
    )
    stub = governed_pb2_grpc.GovernedChangeServiceStub(party.graph_channel)
    await stub.EnrolPrincipals(
        governed_pb2.EnrolPrincipalsRequest(
            request_id=request_id(), enrolment_secret=secret, genesis=genesis
        )
    )


def _channels(live: World, space: str) -> tuple[grpc.aio.Channel, grpc.aio.Channel]:
    admin = holder(space, "ada", Scope.ADMIN, Scope.READ)
    return live.governance.channel(admin), live.graph.channel(admin)


async def test_every_command_is_in_the_log(live: World, ops: AccessClient) -> None:
    """W7 A1 Each command, also a refused one, is an entry that names the key's principal."""
    made = (await ops.key("team")).key
    admin = AccessClient(live, holder("team", "ada", Scope.ADMIN, Scope.READ))
    await admin.revoke(made)
    await admin.revoke(made)
    await refused(admin.key(scopes=[OPERATOR]))
    await refused(ops.space("team"))

    of_space, of_system = await admin.told(), await ops.told()
    said = {
        "key": made.id,
        "principal": "planner",
        "kind": "AGENT",
        "scopes": ["read"],
        "origin": "AGENT",
    }
    assert of_space == [
        ("KEY_CREATE", False, "ops", said | {"operator": True}),
        ("KEY_REVOKE", False, "ada", said),
        (
            *("KEY_CREATE", True, "ada"),
            {
                "space": "team",
                "principal": "planner",
                "detail": "the scope OPERATOR is on keys of concord:system alone",
            },
        ),
    ]
    assert [(action, blocked, who) for action, blocked, who, _ in of_system] == [
        ("SPACE_CREATE", False, "ops"),
        ("SPACE_CREATE", True, "ops"),
    ]
    refusals = [e.reason for e in await _refusals(admin)] + [e.reason for e in await _refusals(ops)]
    assert refusals == ["ERROR_REASON_KEY_REFUSED", "ERROR_REASON_ITEM_EXISTS"]
    assert of_system[0][3] == {"space": "team", "operator": True}
    assert of_system[1][3] == {"space": "team", "detail": "this name is or was in use"}


async def test_a_refused_revocation_and_deletion_name_their_object(ops: AccessClient) -> None:
    """W7 A1 The entry of a refused command names the key or the space that it was for."""
    unknown = access_pb2.RevokeKeyRequest(request_id="r", key_id="0123456789ab")
    deletion = access_pb2.DeleteSpaceRequest(request_id="d", space="nosuch", typed_name="nosuch")
    await refused(ops.stub.RevokeKey(unknown))
    await refused(ops.stub.DeleteSpace(deletion))

    assert [(action, said) for action, blocked, _, said in await ops.told() if blocked] == [
        ("KEY_REVOKE", {"key": "0123456789ab", "detail": "there is no such key"}),
        ("SPACE_DELETE", {"space": "nosuch", "detail": "there is no such space"}),
    ]


async def test_commands_of_those_who_may_not_are_in_the_log(live: World, ops: AccessClient) -> None:
    """W7 A1 A command that the key may not call, and a reserved principal, are entries of the
    caller's own space, and name what they were about, if that is well formed; a read that the
    key may not call is none."""
    made = (await ops.key("team")).key
    agent = AccessClient(live, holder("team", "planner", Scope.READ, Scope.WRITE))
    admin = AccessClient(live, holder("team", "ada", Scope.ADMIN, Scope.READ))
    deletion = access_pb2.DeleteSpaceRequest(request_id="d", space="team", typed_name="team")
    for call in (agent.key("team"), agent.revoke(made), admin.space("other")):
        assert reason_of(await refused(call))[0] == "PERMISSION_MISSING"
    await refused(agent.stub.RevokeKey(access_pb2.RevokeKeyRequest(key_id="me\nor you")))
    failure = await refused(admin.stub.DeleteSpace(deletion))
    assert reason_of(failure)[0] == "PERMISSION_MISSING"
    assert reason_of(await refused(admin.key(principal="governance")))[0] == "RESERVED_NAME"
    await refused(agent.stub.ListKeys(access_pb2.ListKeysRequest()))

    told = [
        (action, who, {name: each for name, each in said.items() if name != "detail"})
        for action, blocked, who, said in await admin.told()
        if blocked
    ]
    assert told == [
        ("KEY_CREATE", "planner", {"space": "team", "principal": "planner"}),
        ("KEY_REVOKE", "planner", {"key": made.id}),
        ("SPACE_CREATE", "ada", {"space": "other"}),
        ("KEY_REVOKE", "planner", {}),
        ("SPACE_DELETE", "ada", {"space": "team"}),
        ("KEY_CREATE", "ada", {"space": "team", "principal": "governance"}),
    ]
    assert [entry.reason for entry in reversed(await _refusals(admin))] == [
        *["ERROR_REASON_PERMISSION_MISSING"] * 5,
        "ERROR_REASON_RESERVED_NAME",
    ]


async def _refusals(client: AccessClient) -> list[audit_pb2.AuditEntry]:
    """Return what the log tells of refused commands."""
    found = await client.audit.ListAuditEntries(audit_pb2.ListAuditEntriesRequest())
    return [entry for entry in found.entries if entry.blocked]


async def test_a_log_with_commands_verifies(live: World, ops: AccessClient) -> None:
    """W7 A2 The offline verifier accepts the entries of keys and spaces."""
    party = live.party("one")
    await party.enrol()
    keys_file = AccessClient(live, holder("one", "ada", Scope.ADMIN, Scope.READ))
    assert reason_of(await refused(keys_file.key()))[0] == "ITEM_NOT_FOUND"  # nobody registered it
    system = Party(
        SYSTEM_SPACE, live.governance.channel(OPERATING), live.graph.channel(OPERATING), live.clock
    )
    made = (await ops.key(SYSTEM_SPACE, scopes=[OPERATOR])).key
    await ops.revoke(made)

    assert (await party.verified()).refused == 1
    assert (await system.verified()).entries == 3


async def test_last_use_is_listed_and_noted_together(tmp_path: Path) -> None:
    """W7 The list shows when a key was last used; uses are written together, also at a stop."""
    known, clock = Keys(), Clock()
    async with world(tmp_path, clock=clock, keys=known) as first:
        ops = AccessClient(first, OPERATING)
        await ops.space("team")
        made = await ops.key("team")
        assert not (await ops.keys("team"))[0].HasField("last_use_time")
        clock.now += DAY
        await caller_of(first, made.secret)
        used = (await ops.keys("team"))[0].last_use_time
        size = len(await ops.told())
        assert used.ToMicroseconds() == clock.now
    async with world(tmp_path, clock=clock, keys=known) as again:
        (listed,) = await AccessClient(again, OPERATING).keys("team")
        assert listed.last_use_time == used
        assert len(await AccessClient(again, OPERATING).told()) == size


async def test_a_keys_file_comes_in_once(tmp_path: Path) -> None:
    """W7 A removed key is not valid again after a restart, and a narrowed one is not wide again."""
    file = tmp_path / "keys.json"
    entry = {"space": "home", "principal": "agent", "kind": "AGENT", "scopes": ["governed:write"]}
    operator = {
        "space": SYSTEM_SPACE,
        "principal": "owner",
        "kind": "HUMAN",
        "scopes": ["operator"],
    }
    digests = [sha256(name.encode()).hexdigest() for name in ("a", "b", "o")]
    file.write_text(json.dumps({digests[0]: entry, digests[2]: operator}))
    known = Keys()
    async with world(tmp_path, keys=known, keys_file=file) as first:
        ops = AccessClient(first, OPERATING)
        (taken,) = await ops.keys("home")
        assert (list(taken.permissions), taken.created_by) == (["governed:write"], "")
        assert [
            each.name for each in (await ops.stub.ListSpaces(access_pb2.ListSpacesRequest())).spaces
        ] == ["home"]
        assert (await caller_of(first, "o")).scopes == [OPERATOR]
        await ops.revoke(taken)
    wider = entry | {"scopes": ["read", "admin"]}
    file.write_text(json.dumps({digests[0]: wider, digests[1]: wider, digests[2]: operator}))
    async with world(tmp_path, keys=known, keys_file=file) as again:
        assert (await caller_of(again, "a")).status == STATUS.KEY_STATUS_REVOKED
        assert (await caller_of(again, "b")).scopes == [READ, ADMIN]
        told = await AccessClient(again, holder("home", "ada", Scope.READ)).told()
        assert [(e[0], e[3].get("from")) for e in told] == [
            ("KEY_CREATE", "keys file"),
            ("KEY_REVOKE", None),
            ("KEY_CREATE", "keys file"),
        ]


GOOD = {"space": "home", "principal": "agent", "kind": "AGENT", "scopes": ["read"]}


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ({"a" * 63: GOOD}, "wrong in its entries"),
        ({"ck_" + "a" * 43: GOOD}, "wrong in its entries"),
        ({"a" * 64: GOOD | {"kind": "ROBOT"}}, "wrong in its entries: kind"),
        ({"a" * 64: GOOD | {"more": 1}}, "wrong in its entries: more"),
        ({"a" * 64: GOOD | {"scopes": []}}, "wrong in its entries: scopes"),
        ({"a" * 64: GOOD | {"scopes": ["feed:all"]}}, "services alone"),
        ({"a" * 64: GOOD | {"scopes": ["callers:resolve", "read"]}}, "services alone"),
        ({"a" * 64: GOOD | {"scopes": ["operator"]}}, "alone"),
        ({"a" * 64: GOOD | {"scopes": ["spaces:write"]}}, "alone"),
        ({"a" * 64: GOOD | {"space": SYSTEM_SPACE}}, ""),
        ({"a" * 64: GOOD | {"space": SYSTEM_SPACE, "scopes": ["write"]}}, "alone"),
        ("no json", "wrong in its entries"),
    ],
)
def test_a_keys_file_that_is_none(tmp_path: Path, entries: object, why: str) -> None:
    """W6 W7 A keys file says what it may, or the start says where it does not, and no value."""
    path = tmp_path / "keys.json"
    path.write_text(json.dumps(entries) if isinstance(entries, dict) else str(entries))
    if not why:
        assert set(read_keys(path)) == {"a" * 64}
        return
    with pytest.raises(ConfigError) as refusal:
        read_keys(path)
    assert why in str(refusal.value)
    assert "ck_" not in str(refusal.value)


def test_an_absent_keys_file_is_told(tmp_path: Path) -> None:
    """W7 A path that names no file stops the start; without a path no keys come in."""
    with pytest.raises(ConfigError, match="cannot be read"):
        read_keys(tmp_path / "none")
    assert read_keys(None) == {}


async def test_nobody_but_a_gateway_asks_whom_a_key_stands_for(live: World) -> None:
    """W7 No key carries what GetCaller takes, whatever its scopes."""
    every = holder(SYSTEM_SPACE, "ops", *Scope)
    client = AccessClient(live, replace(every, principal="gateway"))

    failure = await refused(client.stub.GetCaller(access_pb2.GetCallerRequest(key_digest="a" * 64)))
    assert reason_of(failure)[0] == "PERMISSION_MISSING"
