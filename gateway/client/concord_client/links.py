"""Lineage as links in a text, which graph writes in the same transaction."""

from collections.abc import Mapping, Sequence


def with_links(content: str, links: Mapping[str, Sequence[str] | None]) -> str:
    """The content with its lineage as links, which the graph writes in the same transaction.

    They stand below it; above where a code fence or comment could hide them.
    """
    written = [
        f"{relation}: {', '.join(f'[[memory:{target}]]' for target in targets)}"
        for relation, targets in links.items()
        if targets
    ]
    content = content.rstrip("\n")
    if not written:
        return content
    above = any(mark in content for mark in ("```", "~~~", "<!--"))
    lines = "\n".join(written)
    return f"{lines}\n\n{content}" if above else f"{content}\n\n{lines}"
