"""Commands on memories and what stands around them."""
