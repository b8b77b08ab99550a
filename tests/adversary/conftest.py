"""Gives these tests the spaces of `governed`."""

from governed_fixtures import _graph_server, _ledger_server, _patient_answers, live, party

__all__ = ["_graph_server", "_ledger_server", "_patient_answers", "live", "party"]
