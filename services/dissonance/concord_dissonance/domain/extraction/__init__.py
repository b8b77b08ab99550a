"""Facts that texts state: candidates, which whoever asked may take (D13)."""
