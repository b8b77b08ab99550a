-- What amends an item is looked for wherever the item is read (spec T4), and most have nothing.
CREATE INDEX edge_amends ON edge (space, target_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND relation = 'AMENDS';
