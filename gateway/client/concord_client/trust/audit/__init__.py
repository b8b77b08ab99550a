"""Checks an audit log offline: it is complete and unchanged, and governance's rules were kept."""
