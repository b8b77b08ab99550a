"""What would come in by an import that nobody agreed to, and what keeps it out."""

import json
from hashlib import sha256

import grpc
from concord_client.transfer import agreed_in
from concord_client.trust import signing
from contract_homes import EXPIRE_TIME, Home, Template, importing
from contract_live import Live, member
from contract_registry import Refused
from guard_probes import is_done


async def principals_come_without_a_genesis(live: Live, template: Template) -> bool:
    """Import an export from which the genesis was taken out."""
    home = template.a
    demanded = Refused(grpc.StatusCode.FAILED_PRECONDITION, "CONSTITUTIVE_EDGE_PROTECTED")
    request = importing(home, export=_without_genesis(home.export))
    answer = await live.ask(member(home.fresh_space), "ImportSpace", [*request])
    return is_done(answer, demanded)


async def strangers_sign_for_a_restore(live: Live, template: Template) -> bool:
    """Import an export with a restore grant by others than its principals."""
    home = template.a
    demanded = Refused(grpc.StatusCode.FAILED_PRECONDITION, "RESTORE_INVALID")
    request = importing(home, grant=_forged(home))
    answer = await live.ask(member(home.fresh_space), "ImportSpace", [*request])
    return is_done(answer, demanded)


def _forged(home: Home) -> bytes:
    agreed, standing = agreed_in(home.export.splitlines(keepends=True))
    payload = signing.restore_payload(
        constitutive_digest=agreed,
        keys=standing,
        governance_key=signing.public_bytes(signing.generate_key()),
        space=home.fresh_space,
        genesis_digest=signing.genesis_digest(home.genesis),
        export_digest=sha256(home.export).hexdigest(),
        expire_time=EXPIRE_TIME,
    )
    keys = [signing.generate_key(), signing.generate_key()]
    return signing.sign_envelope(signing.RESTORE_TYPE, payload, keys)


def _without_genesis(export: bytes) -> bytes:
    header, _, *body, end = export.decode().splitlines(keepends=True)
    told, last = json.loads(header), json.loads(end)
    del told["counts"]["genesis"]
    last |= {"lines": len(body), "digest": sha256("".join(body).encode()).hexdigest()}
    return "".join([_line(told), *body, _line(last)]).encode()


def _line(record: object) -> str:
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
