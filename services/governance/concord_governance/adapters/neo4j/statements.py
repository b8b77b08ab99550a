"""All Cypher statements of the ledger.

Leaves, subtrees and recorded nonces are only ever created: no statement here sets or deletes one
(a test reads them all), and constraints refuse a second one at the same key. All parameters are
bound as one map, $given, because Neo4j plans a statement anew for each type of each parameter.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_PARAMETER: Final = re.compile(r"\$(\w+)")

# one row a proposal: itself, its newest revision, the consents to that revision
_WHOLE: Final = (
    " MATCH (p)-[:PROPOSES]->(r:ConcordRevision {revision: p.revision}) RETURN properties(p),"
    " properties(r), COLLECT { MATCH (c:ConcordConsent)-[:CONSENTS_TO]->(r) RETURN properties(c) }"
)
_NEWEST_FIRST: Final = (
    " p.number < $before AND (size($statuses) = 0 OR p.status IN $statuses)"
    f" WITH p ORDER BY p.space DESC, p.number DESC LIMIT $limit{_WHOLE} ORDER BY p.number DESC"
)
PROPOSAL: Final = f"MATCH (p:ConcordProposal {{space: $space, id: $id}}){_WHOLE}"
PROPOSAL_NUMBERED: Final = f"MATCH (p:ConcordProposal {{space: $space, number: $number}}){_WHOLE}"
PROPOSALS: Final = f"MATCH (p:ConcordProposal {{space: $space}}) WHERE{_NEWEST_FIRST}"
PROPOSALS_ON: Final = (
    "MATCH (:ConcordAffected {space: $space, id: $item_id})<-[:AFFECTS]-(p:ConcordProposal)"
    f" WHERE{_NEWEST_FIRST}"
)
NEWEST_OF_EACH: Final = (
    "MATCH (p:ConcordProposal {space: $space}) WHERE p.status IN $statuses"
    " AND p.expire_time IS NOT NULL WITH p ORDER BY p.number DESC"
    " WITH p.proposer AS proposer, collect(p) AS theirs"
    " UNWIND range(0, size(theirs) - 1) AS turn WITH theirs[turn] AS p, turn"
    f" ORDER BY turn, p.number DESC LIMIT $limit WITH p{_WHOLE} ORDER BY p.number DESC"
)
PROPOSAL_COUNT: Final = (
    "MATCH (p:ConcordProposal {space: $space}) WHERE p.status IN $statuses"
    " AND p.expire_time IS NOT NULL AND ($proposer = '' OR p.proposer = $proposer)"
    " RETURN count(p)"
)
TIMES: Final = (
    "MATCH (p:ConcordProposal) WHERE p.status IN $statuses"
    " AND p.expire_time IS NOT NULL RETURN p.create_time"
)
DUE: Final = (
    "MATCH (p:ConcordProposal {space: $space}) WHERE p.status IN $open AND p.expire_time <= $now"
    f" WITH p ORDER BY p.expire_time, p.number LIMIT $limit{_WHOLE}"
    " ORDER BY p.expire_time, p.number"
)
DECIDED: Final = (
    "MATCH (p:ConcordProposal {space: $space, status: $decided}) WHERE p.expire_time IS NOT NULL"
    f"{_WHOLE} ORDER BY p.number"
)
NONCE: Final = "MATCH (n:ConcordNonce {space: $space, nonce: $nonce}) RETURN true"
RECEIPT: Final = (
    "MATCH (q:ConcordRequest {space: $space, principal: $principal, method: $method,"
    " request_id: $request_id}) RETURN q.digest, q.proposal_ids"
)
HEAD: Final = (
    "MATCH (s:ConcordLedger {space: $space})"
    " RETURN s.holder, s.log_size, s.last_time, s.feed_epoch, s.feed_seq,"
    " coalesce(s.feed_mark, '')"
)
KEY_CHANGES: Final = "MATCH (s:ConcordLedger {space: $space}) RETURN coalesce(s.key_changes, 0)"
LEAVES: Final = (
    "MATCH (l:ConcordLeaf {space: $space}) WHERE l.place >= $start AND l.place < $end"
    " RETURN l.place, l.time, l.data ORDER BY l.place"
)
_SHOWN: Final = (
    " AND (size($actions) = 0 OR l.action IN $actions)"
    " AND ($actor IS NULL OR l.actor = $actor)"
    " AND ($since IS NULL OR coalesce(l.happen_time, l.time) >= $since)"
    " AND ($until IS NULL OR coalesce(l.happen_time, l.time) < $until)"
    " RETURN l.place, l.time, l.data ORDER BY l.space DESC, l.place DESC LIMIT $limit"
)
ENTRIES: Final = f"MATCH (l:ConcordLeaf {{space: $space}}) WHERE l.place < $before{_SHOWN}"
ENTRIES_ON: Final = (
    "OPTIONAL MATCH (:ConcordAffected {space: $space, id: $item_id})<-[:AFFECTS]-"
    "(p:ConcordProposal) WITH collect(p.id) AS proposals MATCH (l:ConcordLeaf {space: $space})"
    f" WHERE (l.item_id = $item_id OR l.proposal_id IN proposals) AND l.place < $before{_SHOWN}"
)
SUBTREES: Final = (
    "UNWIND $names AS name MATCH (t:ConcordSubtree {space: $space, level: name[0], place: name[1]})"
    " RETURN t.level, t.place, t.hash"
)
UNCONFIRMED: Final = (
    "MATCH (u:ConcordUnconfirmed {space: $space}) WHERE u.memory_id IS NOT NULL RETURN u.memory_id"
)
SPACES: Final = "MATCH (s:ConcordLedger) RETURN s.space"
CURSORS: Final = (
    "MATCH (s:ConcordLedger) RETURN s.space, s.feed_epoch, s.feed_seq, coalesce(s.feed_mark, '')"
)
# without the property `space`: a copy of the database leaves them out
PARTITIONS: Final = "MATCH (f:ConcordFeedPartition) RETURN f.partition, f.number, f.mark"
UNCONFIRMED_SPACES: Final = "MATCH (u:ConcordUnconfirmed) RETURN DISTINCT u.space"
WAITING: Final = (
    "MATCH (p:ConcordProposal) WHERE p.status IN $open AND p.expire_time <= $now RETURN p.space"
    " UNION MATCH (p:ConcordProposal) WHERE p.status = $decided AND p.expire_time IS NOT NULL"
    " RETURN p.space"
)
STORE_EPOCH: Final = "MATCH (s:Store {key: $stamp}) RETURN s.epoch"

# the lock: a transaction that sets a property of the head locks it until the transaction ends
HOLD: Final = (
    "MERGE (s:ConcordLedger {space: $space}) ON CREATE SET s.last_number = 0, s.log_size = 0,"
    " s.last_time = 0, s.feed_epoch = '', s.feed_seq = 0 SET s.holder = randomUUID()"
)
NUMBER: Final = (
    "MATCH (s:ConcordLedger {space: $space}) SET s.last_number = s.last_number + 1"
    " RETURN s.last_number"
)
PROPOSE: Final = "CREATE (p:ConcordProposal) SET p = $fields"
RESOLVE: Final = (
    "MATCH (p:ConcordProposal {space: $space, id: $id}) WHERE p.version = $version"
    " SET p = $fields RETURN true"
)
REVISE: Final = (
    "MATCH (p:ConcordProposal {space: $space, id: $id})"
    " CREATE (p)-[:PROPOSES]->(r:ConcordRevision) SET r = $fields"
)
AFFECT: Final = (
    "MATCH (p:ConcordProposal {space: $space, id: $id}) UNWIND $items AS item"
    " MERGE (a:ConcordAffected {space: $space, id: item}) MERGE (p)-[:AFFECTS]->(a)"
)
# a slot's new consent replaces its former one, which the log keeps
CONSENT: Final = (
    "MATCH (p:ConcordProposal {space: $space, id: $id})"
    "-[:PROPOSES]->(r:ConcordRevision {revision: $revision})"
    " CALL (r) { MATCH (c:ConcordConsent)-[:CONSENTS_TO]->(r)"
    " WHERE NOT c.nonce IN [row IN $consents | row.nonce] DETACH DELETE c }"
    " UNWIND $consents AS row MERGE (c:ConcordConsent {space: $space, proposal_id: $id,"
    " revision: $revision, slot: row.slot, nonce: row.nonce})"
    " ON CREATE SET c += row SET c.revoked = row.revoked MERGE (c)-[:CONSENTS_TO]->(r)"
)
RECORD_NONCE: Final = "CREATE (n:ConcordNonce {space: $space, nonce: $nonce})"
FORGET_RECEIPTS: Final = (
    "MATCH (q:ConcordRequest {space: $space}) WHERE q.create_time < $before DELETE q"
)
KEEP_RECEIPT: Final = "CREATE (q:ConcordRequest) SET q = $fields"
APPEND: Final = "UNWIND $leaves AS row CREATE (l:ConcordLeaf) SET l = row"
GROW: Final = (
    "UNWIND $nodes AS row CREATE (t:ConcordSubtree {space: $space, level: row[0], place: row[1],"
    " hash: row[2]})"
)
ADVANCE: Final = (
    "MATCH (s:ConcordLedger {space: $space}) SET s.log_size = $log_size, s.last_time = $last_time"
)
MOVE_CURSOR: Final = (
    "MATCH (s:ConcordLedger {space: $space}) SET s.feed_epoch = $epoch, s.feed_seq = $seq,"
    " s.feed_mark = $change_digest"
)
MOVE_PARTITION: Final = (
    "MERGE (f:ConcordFeedPartition {partition: $partition}) SET f.number = $number, f.mark = $mark"
)
FORGET_PARTITION: Final = "MATCH (f:ConcordFeedPartition {partition: $partition}) DELETE f"
COUNT_KEY_CHANGE: Final = (
    "MATCH (s:ConcordLedger {space: $space}) SET s.key_changes = coalesce(s.key_changes, 0) + 1"
)
FORGET_WORDS: Final = (
    "MATCH (:ConcordAffected {space: $space, id: $item_id})<-[:AFFECTS]-(:ConcordProposal)"
    "-[:PROPOSES]->(r:ConcordRevision) WHERE r.canonical IS NOT NULL"
    " REMOVE r.canonical RETURN count(r)"
)
FORGET_PROPOSALS: Final = (
    "UNWIND $ids AS id MATCH (r:ConcordRevision {space: $space, proposal_id: id})"
    " WHERE r.revision IS NOT NULL AND r.canonical IS NOT NULL"
    " REMOVE r.canonical RETURN count(DISTINCT id)"
)
FORGET_ALL_WORDS: Final = (
    "MATCH (r:ConcordRevision {space: $space}) WHERE r.proposal_id IS NOT NULL"
    " AND r.revision IS NOT NULL AND r.canonical IS NOT NULL REMOVE r.canonical"
)
UNCONFIRM: Final = "MERGE (u:ConcordUnconfirmed {space: $space, memory_id: $item_id})"
CONFIRM: Final = "MATCH (u:ConcordUnconfirmed {space: $space, memory_id: $memory_id}) DELETE u"

ACCESS_SPACE: Final = "MATCH (a:ConcordSpace {name: $name}) RETURN properties(a)"
ACCESS_SPACE_COUNT: Final = "MATCH (a:ConcordSpace) RETURN count(a)"
ACCESS_SPACES: Final = (
    "MATCH (a:ConcordSpace) WHERE a.name > $after AND ($deleted OR a.delete_time IS NULL)"
    " RETURN properties(a) ORDER BY a.name LIMIT $limit"
)
ACCESS_TO_ERASE: Final = (
    "MATCH (a:ConcordSpace) WHERE a.delete_time > 0 AND NOT a.erased RETURN a.name"
)
ACCESS_KEY: Final = "MATCH (k:ConcordKey {digest: $digest}) RETURN properties(k)"
ACCESS_KEY_OF_ID: Final = "MATCH (k:ConcordKey {id: $id}) RETURN properties(k)"
ACCESS_KEYS: Final = (
    "MATCH (k:ConcordKey {space: $of}) WHERE k.create_time IS NOT NULL"
    " AND (k.create_time < $time OR (k.create_time = $time AND k.id < $id))"
    " AND ($active_at IS NULL"
    " OR (k.revoke_time IS NULL AND coalesce(k.expire_time > $active_at, true)))"
    " RETURN properties(k) ORDER BY k.create_time DESC, k.id DESC LIMIT $limit"
)
# a transaction that sets a property of the space locks it, and its keys, until the transaction ends
LOCK_ACCESS_SPACE: Final = (
    "MATCH (a:ConcordSpace {name: $name}) SET a.name = a.name RETURN properties(a)"
)
PUT_ACCESS_SPACE: Final = "MERGE (a:ConcordSpace {name: $name}) SET a = $fields"
PUT_ACCESS_KEY: Final = "MERGE (k:ConcordKey {digest: $digest}) SET k = $fields"
REVOKE_ACCESS_KEYS: Final = (
    "MATCH (k:ConcordKey {space: $of}) WHERE k.create_time IS NOT NULL AND k.revoke_time IS NULL"
    " SET k.revoke_time = $time RETURN count(k)"
)
NOTE_USES: Final = (
    "UNWIND $uses AS row MATCH (k:ConcordKey {id: row[0]})"
    " WHERE coalesce(k.last_use_time, 0) < row[1] SET k.last_use_time = row[1]"
)
# without the property `space`: a copy of the database leaves sign-ins out
ACCESS_SIGN_IN: Final = "MATCH (s:ConcordSignIn {digest: $digest}) RETURN properties(s)"
PUT_SIGN_IN: Final = "CREATE (s:ConcordSignIn) SET s = $fields"
DELETE_SIGN_IN: Final = "MATCH (s:ConcordSignIn {digest: $digest}) DELETE s"
DELETE_EXPIRED_SIGN_INS: Final = "MATCH (s:ConcordSignIn) WHERE s.expire_time <= $time DELETE s"
DELETE_OLDEST_SIGN_INS: Final = (
    "MATCH (s:ConcordSignIn {key_id: $key_id}) WITH s"
    " ORDER BY s.create_time DESC, s.digest SKIP $kept DELETE s"
)


@cache
def planned(text: str) -> str:
    """Return a statement as it is sent: with all its parameters in one map."""
    return _PARAMETER.sub(r"$given.\1", text)
