"""Commands on whole spaces: import and export, operations, API keys."""
