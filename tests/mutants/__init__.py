"""Changes the safeguards' code in small ways, one at a time, and demands that tests notice.

`python -m tests.mutants [TARGET] [--file MODULE] [--sample N]`. `targets.json` names files, their
own tests, and the wider ones that are asked when these notice nothing; its `equivalent` lists, each
with its reason, the mutants whose difference nobody can observe.
"""
