"""A governed space that moved: exported from one system and imported into another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from concord.governance.v1 import principal_pb2
from concord.graph.v1 import space_pb2
from concord_client.transfer import Export, read_export
from concord_client.trust import signing
from governed_world import SECRET, Clock, Keys, Party, World, eventually, request_id, world


async def exported(party: Party, path: Path) -> Export:
    """Write a full export of a party's space."""
    asked = space_pb2.ExportSpaceRequest(form=space_pb2.EXPORT_FORM_FULL)
    lines = [line async for part in party.space_service.ExportSpace(asked) for line in part.lines]
    return written(path, lines)


def written(path: Path, lines: Iterable[str]) -> Export:
    """Write the lines of an export to a file."""
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return read_export(path)


def _bytes(export: Export) -> bytes:
    return export.path.read_bytes()


async def governance_key(party: Party) -> bytes:
    """Return the key of the governance that a party asks."""
    told = await party.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
    return told.governance_key


async def restore_grant(
    party: Party, export: Export, former: Iterable[signing.Signer] = (), **changed: bytes
) -> bytes:
    """Return what both sign for an import where `party` asks, each where its keys are."""
    key = changed.get("governance_key") or await governance_key(party)
    payload = export.payload(party.time(1), governance_key=key)
    signers = [party.agent.key, *(each.key for each in former)]
    ours = signing.sign_envelope(signing.RESTORE_TYPE, payload, signers)
    theirs = signing.sign_envelope(signing.RESTORE_TYPE, payload, [party.human.key])
    return signing.join_signatures(ours, theirs)


async def brought(party: Party, export: Export, grant: bytes, secret: str = SECRET) -> None:
    """Import an export into a party's space."""
    header = space_pb2.ImportHeader(
        request_id=request_id(), restore_grant=grant, enrolment_secret=secret
    )
    await party.space_service.ImportSpace(
        iter(
            [
                space_pb2.ImportSpaceRequest(header=header),
                space_pb2.ImportSpaceRequest(piece=_bytes(export)),
            ]
        )
    )


@asynccontextmanager
async def moved(
    folder: Path, party: Party, clock: Clock, former: Iterable[signing.Signer] = ()
) -> AsyncIterator[tuple[World, Party, Keys]]:
    """Run another system with keys of its own, into which a party's space has moved."""
    export = await exported(party, folder / "space.jsonl")
    keys, there = Keys(), folder / "there"
    there.mkdir()
    async with world(there, keys=keys, clock=clock) as live:
        guest = live.party()
        guest.agent, guest.human = party.agent, party.human
        await brought(guest, export, await restore_grant(guest, export, former))
        await eventually(guest.actions, lambda told: "IMPORT" in told)
        yield live, guest, keys
