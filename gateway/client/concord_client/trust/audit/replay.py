"""Replays governance's rules over a log (A2), to show that no forbidden change took effect.

Every signed statement in the log is verified anew, with the keys that counted at its entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from concord_attestation.consent import ConsentError

from concord_client.trust.audit.access_rules import AccessRules
from concord_client.trust.audit.consent_rules import ConsentRules
from concord_client.trust.audit.decision_rules import DecisionRules
from concord_client.trust.audit.entry_rules import EntryRules
from concord_client.trust.audit.import_rules import ImportRules
from concord_client.trust.audit.log import Log, LogInvalid, Pinned
from concord_client.trust.audit.state import DECIDED, EXECUTED, UNDONE, ReplayState
from concord_client.trust.audit.write_rules import WriteRules


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of a replay. `constitutive`: the digest after the last governed write of each
    constitutive item, and of each item that one depends on, by id."""

    entries: int
    proposals: int
    executed: int
    undone: int
    refused: int
    constitutive: Mapping[str, str]
    undecided: tuple[int, ...] = ()
    """Entries of writes on constitutive items that no decision of both slots covers."""
    open_decisions: tuple[int, ...] = ()
    """Entries of decisions without an end, which is to come or was left out (decision 0009)."""
    selections: Mapping[str, str] = field(default_factory=dict)
    """The digest of the receipt of each erasure by selection, by the erasure's id."""


class UndecidedWrites(LogInvalid):
    """The only faults of a log are writes that nobody decided; `findings` names them."""

    def __init__(self, findings: Findings) -> None:
        super().__init__("undecided_write", findings.undecided[0])
        self.findings = findings


class Replay:
    """Judges a log entry by entry and stops at the first that breaks a rule."""

    def __init__(self, log: Log, pinned: Pinned) -> None:
        self._state = ReplayState(log, pinned)
        self._writes = writes = WriteRules(self._state)
        answers = ConsentRules(self._state, writes)
        self._decisions = decisions = DecisionRules(self._state, writes)
        self._entry = EntryRules(self._state)
        self._imports = imports = ImportRules(self._state, writes)
        access = AccessRules(self._state, writes)
        self._rules: dict[str, Callable[[dict[str, Any]], None]] = {
            "GENESIS": writes.on_genesis,
            "IMPORT": imports.on_import,
            "SMF_PROPOSE": answers.on_propose,
            "SMF_REVISE": answers.on_revise,
            "SMF_APPROVE": answers.on_approve,
            "SMF_REVOKE": answers.on_revoke,
            "SMF_REJECT": answers.on_reject,
            "SMF_WITHDRAW": answers.on_end,
            "SMF_EXPIRE": answers.on_expire,
            "RESTORE": answers.on_restore,
            "SMF_DECIDE": decisions.on_decide,
            "SMF_SETTLE": decisions.on_settle,
            "SMF_EXECUTE": decisions.on_execute,
            "SMF_FAIL": decisions.on_fail,
            "SMF_UNDO": decisions.on_undo,
            "WRITE_SUCCESS": writes.on_write,
            "DELETE_SUCCESS": writes.on_write,
            "WRITE_ATTEMPT": writes.on_refusal,
            "DELETE_ATTEMPT": writes.on_refusal,
            "FRAMING_VIOLATION": writes.on_refusal,
            "SAFEGUARD_VIOLATION": writes.on_refusal,
            "CONSENT_REFUSED": writes.on_refusal,
            "KEY_CREATE": access.on_key,
            "KEY_REVOKE": access.on_key,
            "SPACE_CREATE": access.on_space,
            "SPACE_DELETE": access.on_space,
            "SELECTION_ERASED": writes.on_selection_erased,
        }

    def run(self) -> Findings:
        """Replay the whole log.

        Raises:
            UndecidedWrites: the log's only faults are writes that nobody decided.
            LogInvalid: names the rule and the entry.
        """
        for index, leaf in enumerate(self._state.log.leaves):
            self._state.index = index
            rule = self._rules.get(leaf["action"])
            self._state.demand("action", rule is not None)
            try:
                self._entry.judge(leaf)
                if rule is not None:
                    rule(leaf)
            except ConsentError as error:
                check = f"envelope {getattr(error, 'check', '')}".strip()
                raise LogInvalid(check, index) from None
            except (KeyError, TypeError, ValueError, AttributeError):
                raise LogInvalid("form", index) from None
        self._state.index = len(self._state.log.leaves)
        self._imports.demand_whole()
        self._decisions.demand_undone()
        proposals = self._state.proposals.values()
        findings = Findings(
            entries=len(self._state.log.leaves),
            proposals=len(self._state.proposals),
            executed=sum(each.state in (EXECUTED, UNDONE) for each in proposals),
            undone=sum(each.state == UNDONE for each in proposals),
            refused=self._writes.refused,
            constitutive=self._state.items.constitutive(),
            undecided=tuple(self._state.undecided),
            selections=dict(self._writes.selections),
            open_decisions=tuple(each.decided_at for each in proposals if each.state == DECIDED),
        )
        if findings.undecided:
            raise UndecidedWrites(findings)
        return findings
