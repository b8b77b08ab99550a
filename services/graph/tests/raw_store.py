"""Writing past graph, straight into its store, as fast as the store can: whichever it is."""

from __future__ import annotations

import neo4j_at_hand
import raw_neo4j
import raw_sqlite

_RAW = raw_neo4j if neo4j_at_hand.is_chosen() else raw_sqlite

grow_hub = _RAW.grow_hub
join = _RAW.join
pile_up_history = _RAW.pile_up_history
records = _RAW.records
blocked = _RAW.blocked
unprotected = _RAW.unprotected
