"""Tools that sign as the agent, or that compare the log with this machine's pins.

Each runs the command of the same meaning as a process, so that all checks before a signature are
the command's own.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from concord.governance.v1 import proposal_pb2
from concord_mcp.answer import shaped
from concord_mcp.calls import Calls, Refusal
from concord_mcp.tool import ComposedTool
from concord_mcp.tools.proposing import STANDS
from google.protobuf import json_format

from concord_client.cli.session import Party, Session
from concord_client.credentials import ACT_AS_VARIABLE

SECONDS = 60.0
"""Seconds after which a command counts as stuck."""

PROPOSAL = {"proposal_id": "its id", "digest": "of what smf_review showed"}


def signing_tools(session: Session) -> Sequence[ComposedTool]:
    """The tools of the agent's own machine."""
    commands = _Commands(session)
    return (
        ComposedTool(
            "smf_approve",
            "Use when you agree to a proposal that you have reviewed: signs with the agent's key.",
            PROPOSAL,
            commands.approve,
        ),
        ComposedTool(
            "smf_reject",
            "Use when you do not agree to a proposal: signs its rejection with the agent's key.",
            {**PROPOSAL, "reason": "why"},
            commands.reject,
        ),
        ComposedTool(
            "audit_verify",
            "Use when you want to know whether the log of all changes is whole and honest.",
            {},
            commands.verify,
            reads=True,
        ),
    )


class _Commands:
    def __init__(self, session: Session) -> None:
        self._space = ["--space", session.space] if session.space else []
        self._environ = {**os.environ, **session.environ, ACT_AS_VARIABLE: Party.AGENT.value}

    async def approve(self, _calls: Calls, given: Mapping[str, str]) -> dict[str, Any]:
        """`concord approve`, as the agent."""
        return await self._answer("approve", given, proposal_pb2.ApproveProposalResponse())

    async def reject(self, _calls: Calls, given: Mapping[str, str]) -> dict[str, Any]:
        """`concord reject`, as the agent."""
        reply = proposal_pb2.RejectProposalResponse()
        return await self._answer("reject", given, reply, "--reason", given["reason"])

    async def verify(self, _calls: Calls, _given: Mapping[str, str]) -> dict[str, Any]:
        """`concord audit verify` of a fresh export, against the store, too."""
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder, "log"))
            await self._run("audit", "export", file)
            return {"verified": True, "report": await self._run("audit", "verify", file, "--store")}

    async def _answer(
        self,
        command: str,
        given: Mapping[str, str],
        reply: proposal_pb2.ApproveProposalResponse | proposal_pb2.RejectProposalResponse,
        *more: str,
    ) -> dict[str, Any]:
        signed = ["--as", "agent", "--digest", given["digest"], *more, "--json"]
        output = await self._run(command, *signed, "--", given["proposal_id"])
        json_format.Parse(output, reply)
        return shaped(reply, STANDS)

    async def _run(self, *arguments: str) -> str:
        """The standard output of a command. Raises `Refusal` with its reason."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "concord_client",
            *self._space,
            *arguments,
            env=self._environ,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(SECONDS):
                out, errors = await process.communicate()
        except TimeoutError:
            process.kill()
            raise Refusal(
                "ERROR_REASON_DEADLINE_EXCEEDED", f"It took over {SECONDS:.0f} s."
            ) from None
        if process.returncode:
            raise _refusal(errors.decode(errors="replace").strip())
        return out.decode()


def _refusal(said: str) -> Refusal:
    """The refusal in a command's error, "REASON: message" or a message alone."""
    reason, colon, message = said.partition(": ")
    if colon and reason.replace("_", "").isupper():
        return Refusal(reason, message)
    return Refusal("ERROR_REASON_SAFEGUARD_VIOLATION", said)
