"""Graph: the only truth. Nodes, edges, memories, their lineage, their time and the change feed."""
