-- Near-identical memories are found by dissonance, after the write (decision 0034).
DROP TABLE IF EXISTS sketch;
DROP TABLE IF EXISTS sketched;
DROP TABLE IF EXISTS sketch_key;
