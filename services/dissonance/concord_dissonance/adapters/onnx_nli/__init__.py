"""Judging texts by a language-inference model in a local file."""

import os

# Else its mere import reports to its maker, and keeps a device's id on the disk (W6).
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
