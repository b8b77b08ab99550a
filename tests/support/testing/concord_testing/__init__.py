"""Real servers for tests: `serving` runs one in the test's own process, `up_process` a whole
`concord up`, `command_line` runs `concord` commands, `neo4j_server` a Neo4j; `relay` cuts the line
between two of them, `certificates` makes certificates, `blank_files` copies empty stores,
`embedders` need no model, `polling` waits.
"""
