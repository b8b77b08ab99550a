"""all-MiniLM-L6-v2 through ONNX Runtime."""
