"""`make neo4j-up` and `make neo4j-down`: python -m concord_neo4j up|down FOLDER [PORT]."""

import sys
from pathlib import Path

from concord_neo4j.errors import CannotStart
from concord_neo4j.server import USER, LocalNeo4j

DEFAULT_PORT = 7687


def main(arguments: list[str]) -> int:
    """Start or stop the server of a folder; return the exit status."""
    verb, folder, *port = arguments
    server = LocalNeo4j(Path(folder))
    if verb == "down":
        server.remove()
        sys.stdout.write("Neo4j is down; its data is removed.\n")
        return 0
    try:
        server.start(int(*port) if port else DEFAULT_PORT)
    except CannotStart as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(
        f"Neo4j answers at {server.uri}\n"
        f"  user      {USER}\n"
        f"  password  in {server.password_file}\n"
        "Run Concord on it: GRAPH_STORE=neo4j make run\n"
        f"or source {server.environ_file} for NEO4J_URI, NEO4J_USER and NEO4J_PASSWORD\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
