"""Graph's store over Neo4j 5; decision 0006 draws the model."""
