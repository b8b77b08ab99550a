"""What a principal signs and checks: reviewed bytes, keys, the witness, the audit log."""
