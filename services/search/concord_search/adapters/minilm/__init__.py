"""all-MiniLM-L6-v2 through ONNX Runtime."""

import os

# Else the mere import of ONNX Runtime reports to its maker, and stores a device id (W6).
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
