"""Reads: items as their readers see them, walks, chains, paths and near names."""
