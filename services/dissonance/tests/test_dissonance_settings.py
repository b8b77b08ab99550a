"""Dissonance's settings: what is read from the environment, and what is refused at the start."""

from pathlib import Path

import pytest
from concord_chassis.call.identity import TokenIssuer
from concord_chassis.config import ConfigError, load
from concord_dissonance.bootstrap import build
from concord_dissonance.config import PREFIX, Addresses
from concord_dissonance.domain.errors import JudgeUnavailable
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NOWHERE = {
    f"DISSONANCE_{name}_ADDRESS": "unix:/nowhere" for name in ("GRAPH", "SEARCH", "GOVERNANCE")
}


def read(**settings: str) -> Addresses:
    """Read these settings beside the addresses."""
    return load(Addresses, NOWHERE | settings, PREFIX)


def test_a_model_is_shown_no_space_unless_it_is_named() -> None:
    """D11 Spaces stand in a list; the key is in no text of the settings."""
    model = {"DISSONANCE_LLM_URL": "http://host/v1", "DISSONANCE_LLM_MODEL": "m"}
    found = read(**model, DISSONANCE_LLM_SPACES="home,work", DISSONANCE_LLM_KEY="sk-secret")

    assert read(**model).llm_spaces == frozenset()
    assert found.llm_spaces == {"home", "work"}
    assert found.llm_key.get_secret_value() == "sk-secret"
    assert "sk-secret" not in repr(found)


@pytest.mark.parametrize("half", ["DISSONANCE_LLM_URL", "DISSONANCE_LLM_MODEL"])
def test_half_a_model_is_refused(half: str) -> None:
    """D11 A URL without a name, or a name without a URL, stops the start."""
    with pytest.raises(ConfigError, match="contradict each other"):
        read(**{half: "x"})


async def test_an_unusable_folder_of_a_model_stops_the_start(tmp_path: Path) -> None:
    """D4 What the operator set up and cannot work is said at once, with its place."""
    issuer = TokenIssuer(Ed25519PrivateKey.generate(), "dissonance")
    with pytest.raises(JudgeUnavailable, match=str(tmp_path)):
        build(read(DISSONANCE_NLI_FOLDER=str(tmp_path)), issuer)
