"""The gateway: authenticates callers, forwards their calls, translates JSON; decides nothing."""
