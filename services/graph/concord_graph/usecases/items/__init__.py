"""Commands on nodes, edges, declared relations and lineage."""
