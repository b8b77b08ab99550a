"""Synthesis of opposing claims and review of answers, as runs that callers can resume."""
