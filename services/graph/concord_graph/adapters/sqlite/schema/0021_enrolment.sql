-- Hex SHA-256 of the one-time secret that a space's genesis takes, as governance registered it.

ALTER TABLE space ADD COLUMN enrolment TEXT NOT NULL DEFAULT '';
