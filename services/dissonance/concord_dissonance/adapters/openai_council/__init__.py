"""Models behind endpoints that review answers and revise them."""
