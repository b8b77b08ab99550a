"""Names that look like Concord's own (W7)."""

from collections.abc import Callable

import pytest
from concord_governance.domain.access import demand_free_principal, demand_free_space_name
from concord_governance.domain.errors import ReservedName

RESERVED = ("dissonance", "gateway", "governance", "graph", "search", "concord:agent")
DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": lambda name: name,
    "in capitals": str.upper,
    "wide": lambda name: "".join(chr(ord(each) + 0xFEE0) for each in name),
    "bold": lambda name: "".join(
        chr(0x1D41A + ord(each) - 97) if each.isalpha() else each for each in name
    ),
    "with a zero width space": lambda name: f"{name[:3]}\u200b{name[3:]}",
    "with a soft hyphen at its end": lambda name: f"{name}\u00ad",
    "with a blank letter": lambda name: f"{name[:2]}\u3164{name[2:]}",
    "with accents": lambda name: name.replace("a", "a\u0301").replace("o", "\u00f6"),
    "cyrillic": lambda name: name.translate(str.maketrans("aceoprsi", "асеорrѕі")),
    "greek": lambda name: name.translate(str.maketrans("ano", "αηο")),
    "small capitals": lambda name: name.translate(str.maketrans("aceghnr", "ᴀᴄᴇɢʜɴʀ")),
    "digits": lambda name: name.translate(str.maketrans("oeis", "0315")),
    "greek capitals": lambda name: name.upper().translate(str.maketrans("AEHNO", "ΑΕΗΝΟ")),
    "spaced": lambda name: f" {name[:4]} {name[4:]}.",
}


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("name", RESERVED)
def test_a_principal_that_looks_reserved_is_refused(name: str, disguise: str) -> None:
    """W7 In each letter, case and width, and with signs that do not show."""
    with pytest.raises(ReservedName) as caught:
        demand_free_principal(DISGUISES[disguise](name))

    assert caught.value.reason == "ERROR_REASON_RESERVED_NAME"
    assert caught.value.violations[0][0] == "principal"


@pytest.mark.parametrize("colon", "：∶꞉ː﹕")
def test_a_colon_that_looks_like_one_is_one(colon: str) -> None:
    """W7 "concord:" in any colon."""
    with pytest.raises(ReservedName):
        demand_free_principal(f"Сoncord{colon}ops")


@pytest.mark.parametrize(
    "name",
    ["concord-system", "concord.system", "ConcordSystem", "c0ncord_syst3m", "concordsystem"],
)
def test_a_space_that_looks_reserved_is_refused(name: str) -> None:
    """W7 People read the name of the operators' space in it."""
    with pytest.raises(ReservedName) as caught:
        demand_free_space_name(name)

    assert caught.value.violations[0][0] == "space"


@pytest.mark.parametrize(
    "name",
    [
        *("owner", "agent", "Анна", "Όλγα", "research", "search-bot", "graphite", "gateway-eu"),
        *("concord-agent", "concordia", "山田", "governance council", "a:b", "consonance", ""),
    ],
)
def test_other_names_are_free(name: str) -> None:
    """W7 In any script."""
    demand_free_principal(name)
    demand_free_space_name(name)
