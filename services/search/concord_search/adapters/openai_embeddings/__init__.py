"""Embeddings from any endpoint that speaks OpenAI's `/v1/embeddings`."""
