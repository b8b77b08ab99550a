"""The transport to Qdrant Edge, Qdrant's engine inside this process: files, locks and threads."""
