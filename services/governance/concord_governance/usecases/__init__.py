"""Governance's use cases: proposals, decisions and their execution, the log, spaces and keys."""
