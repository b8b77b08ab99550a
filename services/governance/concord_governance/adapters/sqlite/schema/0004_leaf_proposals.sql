-- Which proposal an entry is about: what asks for an item's entries finds those of its proposals.

ALTER TABLE leaf ADD COLUMN proposal_id TEXT NOT NULL DEFAULT '';
CREATE INDEX leaf_proposal ON leaf (space, proposal_id, place);
