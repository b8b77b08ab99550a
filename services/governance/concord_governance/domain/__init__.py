"""Governance's domain: plain data and rules, without a store or a network."""
