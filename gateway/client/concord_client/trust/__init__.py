"""A principal's own checks and signatures: reviewed bytes, keys, the witness, the audit log."""
