"""Commands on nodes, edges and relations."""
