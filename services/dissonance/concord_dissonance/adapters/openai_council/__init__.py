"""Models behind endpoints that review answers, revise them, and write syntheses."""
