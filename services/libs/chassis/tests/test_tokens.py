import base64
import hashlib
import hmac
import json
from dataclasses import replace

import jwt
import pytest
from concord_chassis.call import identity
from concord_chassis.call.failure import Failure
from concord_chassis.call.identity import (
    Caller,
    RenewedToken,
    TokenIssuer,
    TokenVerifier,
)
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

NOW = 1_800_000_000.0
ANNA = Caller("space-a", "anna", frozenset({"x:read", "x:write"}), "HUMAN")
KEY = Ed25519PrivateKey.generate()
CLAIMS = {
    "iss": "issuer",
    "sub": "anna",
    "space": "space-a",
    "scope": "x:read",
    "kind": "AGENT",
    "exp": int(NOW) + 60,
}


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Returns a clock that stands at NOW."""
    return Clock()


def _issuer(clock: Clock) -> TokenIssuer:
    return TokenIssuer(KEY, "issuer", now=clock)


def _verifier(clock: Clock) -> TokenVerifier:
    return TokenVerifier({"issuer": KEY.public_key()}, now=clock)


def _reason(verifier: TokenVerifier, token: str) -> str:
    with pytest.raises(Failure) as caught:
        verifier.verify(token)
    assert caught.value.code.name == "UNAUTHENTICATED"
    return caught.value.reason


def test_a_minted_token_names_its_caller(clock: Clock) -> None:
    """W6: a verified token gives the caller's space, principal, scopes and kind."""
    assert _verifier(clock).verify(_issuer(clock).mint(ANNA)) == ANNA


def test_a_token_carries_the_keys_origin(clock: Clock) -> None:
    """W8: a token names one of the contract's origins or none; another origin is refused."""
    verifier = _verifier(clock)
    anna = replace(ANNA, origin="IMPORT")

    assert verifier.verify(_issuer(clock).mint(anna)) == anna
    assert verifier.verify(_issuer(clock).mint(ANNA)).origin == ""
    token = _issuer(clock).mint(replace(ANNA, origin="NOBODY"))
    assert _reason(verifier, token) == "ERROR_REASON_CREDENTIAL_INVALID"


def test_a_token_ends_to_the_second_even_when_it_is_remembered(clock: Clock) -> None:
    """W6: a token is refused from its expiry on, even if it is cached."""
    verifier = _verifier(clock)
    token = _issuer(clock).mint(ANNA, ttl=10)
    assert verifier.verify(token) == ANNA
    clock.now = NOW + 9.999
    assert verifier.verify(token) == ANNA

    clock.now = NOW + 10

    assert _reason(verifier, token) == "ERROR_REASON_CREDENTIAL_EXPIRED"
    assert _reason(verifier, token) == "ERROR_REASON_CREDENTIAL_EXPIRED"


def test_a_token_lives_for_an_hour_at_most(clock: Clock) -> None:
    """W7: a token may live for an hour, counted by an issuer's clock that is a minute ahead."""
    ahead = Clock()
    ahead.now += 60
    assert _verifier(clock).verify(_issuer(ahead).mint(ANNA, ttl=3600)) == ANNA

    ahead.now += 1
    token = _issuer(ahead).mint(ANNA, ttl=3600)
    assert _reason(_verifier(clock), token) == "ERROR_REASON_CREDENTIAL_INVALID"


def test_a_token_is_verified_once_and_forgotten_when_there_are_many(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W6: a verified token is cached; above the bound the oldest entry is dropped."""
    monkeypatch.setattr(identity, "MOST_VERIFIED", 2)
    verifier = _verifier(clock)
    tokens = [_issuer(clock).mint(replace(ANNA, principal=name)) for name in ("a", "b", "c")]

    first = verifier.verify(tokens[0])

    assert verifier.verify(tokens[0]) is first
    verifier.verify(tokens[1])
    verifier.verify(tokens[2])
    assert verifier.verify(tokens[0]) is not first
    assert verifier.verify(tokens[0]) == first


def _unsigned(alg: str, claims: dict[str, object], key: bytes = b"") -> str:
    """Returns a token without an Ed25519 signature, as an attacker may make it."""

    def part(value: object) -> str:
        data = json.dumps(value).encode()
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    signed = f"{part({'alg': alg, 'typ': 'JWT'})}.{part(claims)}"
    mac = hmac.new(key, signed.encode(), hashlib.sha256).digest() if key else b""
    return f"{signed}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


def _forgeries() -> dict[str, str]:
    public = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    raw = KEY.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    sound = jwt.encode(CLAIMS, KEY, algorithm="EdDSA")
    header, _, signature = sound.split(".")
    other = jwt.encode({**CLAIMS, "sub": "root"}, KEY, algorithm="EdDSA").split(".")[1]
    return {
        "no algorithm": _unsigned("none", CLAIMS),
        "an algorithm in odd case": _unsigned("nOnE", CLAIMS),
        "the public key as a shared secret": _unsigned("HS256", CLAIMS, public),
        "the raw public key as a shared secret": _unsigned("HS256", CLAIMS, raw),
        "another curve": jwt.encode(CLAIMS, generate_private_key(SECP256R1()), algorithm="ES256"),
        "a stranger's key": jwt.encode(CLAIMS, Ed25519PrivateKey.generate(), algorithm="EdDSA"),
        "an unknown issuer": jwt.encode({**CLAIMS, "iss": "who"}, KEY, algorithm="EdDSA"),
        "another payload": f"{header}.{other}.{signature}",
        "no signature": sound.rsplit(".", 1)[0] + ".",
        "not a token": "nonsense",
        "nothing": "",
        "not text for a token": "ä.ö.ü",
        "a list for claims": _unsigned("EdDSA", [1]),  # type: ignore[arg-type] # as an attacker would
        "a very long one": jwt.encode({**CLAIMS, "sub": "a" * 4096}, KEY, algorithm="EdDSA"),
    }


@pytest.mark.parametrize("name", _forgeries())
def test_a_forged_token_is_refused(name: str, clock: Clock) -> None:
    """W6: only a token with the Ed25519 signature of a known issuer verifies."""
    assert _reason(_verifier(clock), _forgeries()[name]) == "ERROR_REASON_CREDENTIAL_INVALID"


_Change = dict[str, object]
WRONG_CLAIMS: list[_Change] = [
    *[_Change({name: None}) for name in CLAIMS],
    {"sub": ""},
    {"sub": 5},
    {"space": ""},  # only a SYSTEM may have no space
    {"space": ["a"]},
    {"scope": ["x:read"]},
    {"kind": "ROBOT"},
    {"exp": float("inf")},
    {"exp": int(NOW) + 3_661},  # a second after MAX_TTL + CLOCK_SKEW
    {"exp": 10**30},
    {"exp": str(int(NOW) + 60)},
]


@pytest.mark.parametrize("change", WRONG_CLAIMS, ids=str)
def test_a_signed_token_with_other_claims_is_refused(
    change: dict[str, object], clock: Clock
) -> None:
    """W6: a signed token is refused if a claim is missing or wrong."""
    claims = {name: value for name, value in {**CLAIMS, **change}.items() if value is not None}
    token = _signed(claims)

    assert _reason(_verifier(clock), token) == "ERROR_REASON_CREDENTIAL_INVALID"


def _signed(claims: dict[str, object]) -> str:
    """Returns a token with a valid signature; PyJWT's `encode` refuses some of these claims."""
    return jwt.PyJWS().encode(json.dumps(claims).encode(), KEY, algorithm="EdDSA")


def test_a_system_may_belong_to_no_space(clock: Clock) -> None:
    """Design 3: a SYSTEM may have no space: readers of the feed name the space in the request."""
    system = Caller("", "search", frozenset({"feed:all"}), "SYSTEM")

    assert _verifier(clock).verify(_issuer(clock).mint(system)) == system


def test_a_token_source_renews_before_the_end(clock: Clock) -> None:
    """W6: a channel's token is renewed after half of its life, long before it expires."""
    source = RenewedToken(_issuer(clock), ANNA, now=clock)

    first = source()
    clock.now += identity.DEFAULT_TTL / 2 - 1
    assert source() == first
    clock.now += 1
    second = source()

    assert second != first
    assert _verifier(clock).verify(second) == ANNA


def test_a_secret_follows_from_a_text_and_the_key_alone() -> None:
    """M4: a secret is the same for the same key and text, and differs for another key or text."""
    issuer = TokenIssuer(KEY, "issuer")
    strangers = TokenIssuer(Ed25519PrivateKey.generate(), "issuer")

    assert issuer.secret_of("a") == TokenIssuer(KEY, "other name").secret_of("a")
    assert len({issuer.secret_of("a"), issuer.secret_of("b"), strangers.secret_of("a")}) == 3


OWN = Caller("space-a", "search", frozenset({"x:read"}), "SYSTEM")
"""A service, by a token of its own."""


def _as_service(clock: Clock, name: str = "search") -> TokenIssuer:
    return TokenIssuer(KEY, name, now=clock)


def _of_graph(clock: Clock) -> TokenVerifier:
    keys = dict.fromkeys(("search", "search-2", "gateway"), KEY.public_key())
    claims = {"search": frozenset({"x:read", "y:read"})}
    return TokenVerifier(keys, service="graph", claims=claims, now=clock)


@pytest.mark.parametrize("name", ["search", "search-2"])
def test_a_service_speaks_for_itself_where_it_says(clock: Clock, name: str) -> None:
    """W7 0112 A service's token names its audience; a replica speaks for the service, too."""
    verifier, issuer = _of_graph(clock), _as_service(clock, name)

    assert verifier.verify(issuer.mint(OWN, audience=["graph"])) == OWN
    assert verifier.verify(issuer.mint(replace(OWN, principal=name), audience=["graph"]))
    for who, audience in (
        (OWN, []),
        (OWN, ["governance"]),
        (replace(OWN, scopes=frozenset({"x:read", "x:write"})), ["graph"]),
        (replace(OWN, principal="anna"), ["graph"]),
        (replace(OWN, kind="HUMAN"), ["graph"]),
    ):
        token = issuer.mint(who, audience=audience)
        assert _reason(_of_graph(clock), token) == "ERROR_REASON_CREDENTIAL_INVALID"


def test_a_gateway_speaks_for_callers(clock: Clock) -> None:
    """W7 0112 With any permission, where it says; anywhere if it does not."""
    issuer = _as_service(clock, "gateway")

    assert _of_graph(clock).verify(issuer.mint(ANNA)) == ANNA
    assert _of_graph(clock).verify(issuer.mint(ANNA, audience=["graph", "search"])) == ANNA
    other = issuer.mint(ANNA, audience=["search"])
    assert _reason(_of_graph(clock), other) == "ERROR_REASON_CREDENTIAL_INVALID"


@pytest.mark.parametrize(
    ("guard", "who", "audience"),
    [
        ("_demand_audience", OWN, "governance"),
        ("_demand_allowed", replace(OWN, scopes=frozenset({"x:write"})), "graph"),
    ],
)
def test_only_the_guards_refuse_it(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, guard: str, who: Caller, audience: str
) -> None:
    """W7 0112 Without either guard the same token is taken."""
    token = _as_service(clock).mint(who, audience=[audience])
    assert _reason(_of_graph(clock), token)

    monkeypatch.setattr(TokenVerifier, guard, lambda *_: None)
    assert _of_graph(clock).verify(token) == who
