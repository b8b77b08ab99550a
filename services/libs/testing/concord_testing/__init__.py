"""Real servers for tests: `serving` runs one in the test's own process, `up_process` a whole
`concord up`, `command_line` runs `concord` commands, `neo4j_server` a Neo4j; `relay` falls silent
between two of them, `certificates` sign, `blank_files` are copied stores, `embedders` need no
model, `polling` waits.
"""
