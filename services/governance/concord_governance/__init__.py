"""Governance: proposals, consent, execution, undo and the audit log."""
