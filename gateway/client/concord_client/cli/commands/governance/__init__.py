"""Commands on proposals, principals and the audit log."""
