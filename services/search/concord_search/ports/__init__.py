"""The outside that search needs, and the promises it relies on: a module each."""
