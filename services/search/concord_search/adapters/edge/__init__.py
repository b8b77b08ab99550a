"""The index on Qdrant Edge, Qdrant's engine inside this process."""
