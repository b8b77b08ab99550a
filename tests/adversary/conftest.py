"""Lets these tests import what stands beside them and in `governed`, and gives them its spaces."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "governed"))
sys.path.insert(0, str(Path(__file__).parent))

from governed_fixtures import _graph_server, _ledger_server, _patient_answers, live, party

__all__ = ["_graph_server", "_ledger_server", "_patient_answers", "live", "party"]
