"""What governance commands share: the session, reviewed bytes, genesis, deletion, verification."""
