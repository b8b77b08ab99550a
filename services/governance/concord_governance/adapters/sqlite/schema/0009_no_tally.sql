-- The count of refused attempts is kept by the process (decision 0032).

ALTER TABLE space DROP COLUMN tally;
