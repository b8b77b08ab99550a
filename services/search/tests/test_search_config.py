"""Settings: read from a mapping, validated at start, each of them used."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from concord_chassis.config import ConfigError, load
from concord_chassis.server.key_files import read_private_key
from concord_search import bootstrap
from concord_search.config import PREFIX, IndexConfig, SearchConfig, read_qdrant
from concord_search.domain.memory import Talk
from concord_search.domain.profiles import shipped
from concord_search.domain.signals import Weights
from concord_search.domain.stac import Thresholds
from concord_testing.serving import new_issuer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from search_lab import QUIET

GIVEN = {
    "SEARCH_LISTEN": "127.0.0.1:7612",
    "SEARCH_ISSUER_KEYS": "gateway=/keys/gateway.pub",
    "SEARCH_KEY_FILE": "/keys/search.pem",
    "SEARCH_GRAPH_ADDRESS": "unix:/run/graph.sock",
    "SEARCH_INDEX_PATH": "/data/index",
}
OPENAI = {
    "SEARCH_EMBEDDER": "openai",
    "SEARCH_OPENAI_URL": "http://127.0.0.1:1/v1",
    "SEARCH_OPENAI_MODEL": "m",
    "SEARCH_OPENAI_DIMENSION": "8",
    "SEARCH_OPENAI_KEY": "sk-secret",
}


def read(**changed: str) -> SearchConfig:
    """Reads the settings with some changed."""
    return load(SearchConfig, {**GIVEN, **changed}, PREFIX)


def test_the_embedded_index_needs_no_client_of_a_server() -> None:
    """S10 The client of Qdrant's server is loaded where the server is chosen, and only there."""
    script = (
        "import sys; from pathlib import Path; from concord_search import bootstrap, config;"
        "bootstrap.index_at(Path('/nowhere'), config.read_qdrant({}), [None]);"
        "sys.exit('qdrant_client' in sys.modules or 'qdrant_edge' not in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False)

    assert done.returncode == 0


def test_the_server_is_named_where_it_is_chosen() -> None:
    """S10 W6 INDEX_STORE chooses it, QDRANT_... describe it; the key is not shown."""
    chosen = {"INDEX_STORE": "qdrant", "QDRANT_URL": "https://there:7", "QDRANT_API_KEY": "hidden"}

    read_there = read_qdrant({**chosen, "QDRANT_SHARDS": "3", "QDRANT_QUANTISATION": "scalar"})

    assert read_qdrant({"QDRANT_URL": "http://there"}) is None
    assert read_there is not None
    assert (read_there.shards, read_there.replicas, read_there.quantisation) == (3, 1, "scalar")
    assert "hidden" not in repr(read_there)
    for wrong, named in (
        ({"INDEX_STORE": "qdrant"}, "QDRANT_URL"),
        ({"INDEX_STORE": "paper"}, "INDEX_STORE"),
        ({**chosen, "QDRANT_URL": "there:7"}, "QDRANT_URL"),
        ({**chosen, "QDRANT_SHARDS": "0"}, "QDRANT_SHARDS"),
        ({**chosen, "QDRANT_TIMEOUT": "0"}, "QDRANT_TIMEOUT"),
        ({**chosen, "QDRANT_PREFIX": "A b"}, "QDRANT_PREFIX"),
        ({**chosen, "QDRANT_QUANTISATION": "some"}, "QDRANT_QUANTISATION"),
    ):
        with pytest.raises(ConfigError, match=named):
            read_qdrant(wrong)


def test_what_is_needed_is_enough() -> None:
    """Style 8: no default for an address, a path or a key; everything else has one."""
    config = read()

    assert config.listen == ["127.0.0.1:7612"]
    assert config.issuer_keys == {"gateway": Path("/keys/gateway.pub")}
    assert config.formula().profiles == shipped()
    assert config.formula().thresholds == Thresholds()
    with pytest.raises(ConfigError) as caught:
        load(SearchConfig, {}, PREFIX)
    assert [name for name in GIVEN if f"{name} is not set" not in str(caught.value)] == []


def test_weights_and_thresholds_are_settings() -> None:
    """S3, S5 weights and thresholds are configuration."""
    formula = read(
        SEARCH_WEIGHTS="lexical=0.5, context_window=0", SEARCH_THRESHOLDS="ask_vector=0.7"
    ).formula()

    for talk in Talk:
        weights, default = formula.profiles.of(talk).weights, shipped().of(talk).weights
        assert (weights.lexical, weights.context_window) == (0.5, 0.0)
        assert weights.vector_similarity == default.vector_similarity
    assert formula.thresholds.ask_vector == 0.7


@pytest.mark.parametrize(("setting", "known"), [("WEIGHTS", Weights), ("THRESHOLDS", Thresholds)])
def test_an_unknown_signal_is_named(setting: str, known: type) -> None:
    """S3, S5 A misspelt name is told, with those that there are: it contradicts nothing."""
    with pytest.raises(ConfigError) as caught:
        read(**{f"SEARCH_{setting}": "charm=1,nonsense=1"})

    names = ", ".join(field.name for field in fields(known))
    assert str(caught.value) == (
        f"SEARCH_{setting} is not valid: it has no charm, nonsense; it may name {names}"
    )


@pytest.mark.parametrize(
    ("setting", "given", "told"),
    [
        ("WEIGHTS", "lexical=-1", "lexical: it must be at least 0.0"),
        ("WEIGHTS", "lexical=inf", "lexical: it must be a finite number"),
        ("WEIGHTS", "lexical=much", "lexical: it must be a number"),
        ("THRESHOLDS", "ask_vector=2", "ask_vector: it must be at most 1.0"),
        ("THRESHOLDS", "ask_vector=-1", "ask_vector: it must be at least 0.0"),
    ],
)
def test_a_number_out_of_bounds_is_named(setting: str, given: str, told: str) -> None:
    """S3, S5 The signal or threshold and its bound are told: it contradicts no other setting."""
    with pytest.raises(ConfigError) as caught:
        read(**{f"SEARCH_{setting}": given})

    assert str(caught.value) == f"SEARCH_{setting} is not valid: {told}"


@pytest.mark.parametrize(
    "changed",
    [
        {"SEARCH_WEIGHTS": "lexical=0,vector_similarity=0,fusion=0,fusion_apart=0"},
        {"SEARCH_THRESHOLDS": "band_high=0.1"},
        {"SEARCH_EMBEDDER": "other"},
        {"SEARCH_EMBEDDER": "openai"},
        {**OPENAI, "SEARCH_OPENAI_DIMENSION": "0"},
        {"SEARCH_EMBEDDER_THREADS": "0"},
    ],
)
def test_what_cannot_work_fails_at_start(changed: dict[str, str]) -> None:
    """S3, S5 weights and thresholds are validated at start, as is everything else."""
    with pytest.raises(ConfigError):
        read(**changed)


async def test_the_embedder_is_a_setting() -> None:
    """S10: an endpoint takes the built-in model's place, or stands beside it for a reindex."""
    settings = {**OPENAI, "SEARCH_OPENAI_REVISION": "7"}
    found = [
        bootstrap._embedders(read(**each), QUIET)
        for each in ({}, settings, {**settings, "SEARCH_EMBEDDER": "minilm"})
    ]
    for each in found:
        await each.close()

    built_in, chosen, beside = ([model.model_id for model in each.models] for each in found)
    assert built_in == ["all-MiniLM-L6-v2"]
    assert chosen == ["m", "all-MiniLM-L6-v2"]
    assert beside == ["all-MiniLM-L6-v2", "m"]
    assert (found[1].models[0].dimension, found[1].models[0].revision) == (8, "7")


def test_a_key_is_never_shown() -> None:
    """Style 8: no secret in a representation or an error."""
    assert "sk-secret" not in repr(read(**OPENAI))
    with pytest.raises(ConfigError) as refused:
        read(**{**OPENAI, "SEARCH_OPENAI_TIMEOUT": "sk-secret"})
    assert "sk-secret" not in str(refused.value)


def test_the_own_key_is_read_or_refused_by_name(tmp_path: Path) -> None:
    """Style 8: the file is named, its content is not."""

    def pem(key: Ed25519PrivateKey | X25519PrivateKey) -> bytes:
        return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    good, wrong, broken = (tmp_path / name for name in ("good.pem", "wrong.pem", "broken.pem"))
    key = Ed25519PrivateKey.generate()
    good.write_bytes(pem(key))
    wrong.write_bytes(pem(X25519PrivateKey.generate()))
    broken.write_bytes(b"nothing")

    assert read_private_key(good).public_key() == key.public_key()
    for path in (wrong, broken, tmp_path / "absent.pem"):
        with pytest.raises(ConfigError, match=path.name):
            read_private_key(path)


async def test_nothing_is_opened_before_start(tmp_path: Path) -> None:
    """Style 7: building reads and writes nothing."""
    config = IndexConfig(graph_address="unix:/nowhere", index_path=tmp_path / "index")
    app = bootstrap.build(config, new_issuer(), log=QUIET)

    existed = config.index_path.exists()
    await app.close()

    assert not existed
