"""The stores of services, and their failures by name: `sqlite_file`, one file with one writer;
`neo4j_server` and `neo4j_transactions`, a server that several services may share.
"""
