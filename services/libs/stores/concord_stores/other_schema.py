"""What to do about a store whose schema this program does not know."""


def which_to_run(found: int, known: int) -> str:
    """Return which program opens a store with the schema `found`; this one knows `known`."""
    writer = "run the version of Concord that wrote it"
    if found > known:
        return f"{writer}, or a newer one"
    return f"{writer}, or commit 85b147cc, the last one that converts older schemas"
