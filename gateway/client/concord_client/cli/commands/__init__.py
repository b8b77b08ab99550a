"""A module a command, or a few commands of one noun, called as they are typed."""
