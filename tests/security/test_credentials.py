"""No service answers a stranger, or a caller whose credential does not carry the method's scope."""

import grpc
import pytest
from concord_chassis.call.identity import Caller
from concord_testing.serving import new_issuer
from contract_cases import CONTRACTS
from contract_descriptors import METHODS, one_of_each, permission, scopes
from contract_homes import Template
from contract_live import Live, ask, member

EACH = pytest.mark.parametrize("method", one_of_each())
UNAUTHENTICATED = grpc.StatusCode.UNAUTHENTICATED

pytestmark = pytest.mark.asyncio(loop_scope="module")


@EACH
async def test_nobody_is_refused(method: str, template: Template, kept: Live) -> None:
    """W6: without a credential there is no answer."""
    answer = await kept.ask(None, method, CONTRACTS[method].request(template.a), 1)

    assert (answer.code, answer.reason) == (UNAUTHENTICATED, "ERROR_REASON_CREDENTIAL_INVALID")


@EACH
async def test_a_bad_credential_is_refused(method: str, template: Template, kept: Live) -> None:
    """W6: neither a text, nor another issuer's token, nor a changed one, nor an old one."""
    serving = kept.servings[METHODS[method].containing_service.full_name]
    who = member("a")
    good = serving.issuer.mint(who)
    head, _, signature = good.split(".")
    forged = ".".join([head, new_issuer().mint(member("b")).split(".")[1], signature])
    tokens = {
        "hunter2": "CREDENTIAL_INVALID",
        new_issuer(serving.issuer.name).mint(who): "CREDENTIAL_INVALID",
        forged: "CREDENTIAL_INVALID",
        serving.issuer.mint(who, ttl=-1): "CREDENTIAL_EXPIRED",
    }

    for token, reason in tokens.items():
        channel = serving.channel_with(token)
        answer = await ask(channel, METHODS[method], CONTRACTS[method].request(template.a), 1)
        assert (answer.code, answer.reason) == (UNAUTHENTICATED, f"ERROR_REASON_{reason}")


@EACH
async def test_every_scope_but_the_one_is_not_enough(
    method: str, template: Template, kept: Live
) -> None:
    """W6: each method asks for its own scope, and says which."""
    needed = permission(METHODS[method])
    who = Caller("a", "agent-1", scopes() - {needed} | {f"{needed}:not", "*"}, "AGENT")
    answer = await kept.ask(who, method, CONTRACTS[method].request(template.a), 1)

    assert (answer.code, answer.reason) == (
        grpc.StatusCode.PERMISSION_DENIED,
        "ERROR_REASON_PERMISSION_MISSING",
    )
    assert answer.refusal is not None
    assert answer.refusal.metadata == {"permission": needed}
