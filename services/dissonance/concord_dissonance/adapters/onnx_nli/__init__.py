"""Judging texts by a language-inference model in a local file."""

import os

# Otherwise the mere import of onnxruntime reports to its maker, and stores a device id (W6).
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
