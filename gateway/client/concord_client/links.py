"""Adds lineage to a memory's text as links."""

from collections.abc import Mapping, Sequence


def with_links(content: str, links: Mapping[str, Sequence[str] | None]) -> str:
    """The content with lines of lineage links, from which graph writes the lineage atomically.

    The lines are below the content, or above it if a code fence or comment could hide them.
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
