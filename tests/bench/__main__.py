"""Runs the benchmarks that are named, or all, and prints their table."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import uvloop

from tests.bench import (
    add,
    audit_log,
    beside,
    confidence,
    dialectic_inputs,
    dissonance,
    dissonance_candidates,
    dissonance_cost,
    erasure,
    extraction,
    facts_read,
    followers,
    framing,
    gateway_hop,
    governance,
    graph_size,
    hook,
    importing,
    ingest,
    mixed_writers,
    named_session,
    neighbors,
    packs,
    partitions,
    plain_facts,
    real_checks,
    residence,
    retrieval,
    rows,
    rpc,
    scripts,
    searching,
    settling,
    spaces,
    suggesting,
    time_phrases,
    value_check,
    values_in_time,
)
from tests.bench.run import Bench, Run
from tests.bench.table import HEAD, Row, line, summary
from tests.bench.timing import caller


async def _on_qdrant(run: Run) -> AsyncIterator[Row]:
    from tests.bench import qdrant_search  # loads the server's client, which others do without

    async for row in qdrant_search.bench(run):
        yield row


async def _page(run: Run) -> AsyncIterator[Row]:
    from tests.bench import page  # needs Chromium, which others do without

    async for row in page.bench(run):
        yield row


BENCHES: Mapping[str, Bench] = {
    "rpc": rpc.bench,
    "add": add.bench,
    "ingest": ingest.bench,
    "neighbors": neighbors.bench,
    "graph": graph_size.bench,
    "facts": facts_read.bench,
    "rows": rows.bench,
    "settling": settling.bench,
    "spaces": spaces.bench,
    "search": searching.bench,
    "value-check": value_check.bench,
    "scripts": scripts.bench,
    "suggesting": suggesting.bench,
    "named-session": named_session.bench,
    "importing": importing.bench,
    "beside": beside.bench,
    "residence": residence.bench,
    "erasure": erasure.bench,
    "dissonance": dissonance.bench,
    "real-checks": real_checks.bench,
    "dialectic": dialectic_inputs.bench,
    "extraction": extraction.bench,
    "framing": framing.bench,
    "gateway": gateway_hop.bench,
    "governance": governance.bench,
    "hook": hook.bench,
    "retrieval": retrieval.bench,
    "packs": packs.bench,
    "partitions": partitions.bench,
    "followers": followers.bench,
    "plain-facts": plain_facts.bench,
    "mixed-writers": mixed_writers.bench,
    "confidence": confidence.bench,
    "time-phrases": time_phrases.bench,
    "audit": audit_log.bench,
    "dissonance-candidates": dissonance_candidates.bench,
    "dissonance-cost": dissonance_cost.bench,
    "qdrant": _on_qdrant,
    "page": _page,
    **values_in_time.BENCHES,
}
DATA_SETTING = "CONCORD_EVALUATION_DATA"
DATA_DEFAULT = Path(__file__).parents[3] / "shared" / "data"


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Runs benchmarks; 0 also when a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}")
    parser.add_argument("--quick", action="store_true", help="small sizes; proves no ratio")
    parser.add_argument(
        "--large",
        action="store_true",
        help="search: 1,000,000 memories too; graph: 1,000,000 edges on Neo4j too; spaces: 50,000",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there too")
    asked = parser.parse_args(arguments)
    if unknown := set(asked.names) - BENCHES.keys():
        parser.error(f"no benchmark called {', '.join(sorted(unknown))}")
    evaluation = Path(environ.get(DATA_SETTING) or DATA_DEFAULT)
    with tempfile.TemporaryDirectory(prefix="concord-bench-") as folder, caller() as client:
        run = Run(client, Path(folder), evaluation, asked.quick, asked.large)
        rows = uvloop.run(_all(run, asked.names or list(BENCHES)))
    if asked.json:
        asked.json.write_text(json.dumps([row.record() for row in rows], indent=2) + "\n")
    print(f"\n{summary(rows)}")
    return 0


async def _all(run: Run, names: Sequence[str]) -> list[Row]:
    rows: list[Row] = []
    print(f"{HEAD}{'   QUICK: proves no ratio' if run.quick else ''}")
    for place, name in enumerate(names):
        folder = run.folder / str(place)  # one that is named twice begins anew
        folder.mkdir()
        async for row in BENCHES[name](replace(run, folder=folder)):
            print(line(row), flush=True)
            rows.append(row)
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
