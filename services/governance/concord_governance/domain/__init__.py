"""What governance knows without a store or a wire: plain data and rules."""
