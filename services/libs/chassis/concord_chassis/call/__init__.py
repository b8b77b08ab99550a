"""A call, from its bytes to its refusal: contract, stages, caller, deadline and errors."""
