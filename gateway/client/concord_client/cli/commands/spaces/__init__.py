"""Commands on whole spaces: their material, records, keys."""
