"""Renders a synthesis."""

from concord.dissonance.v1 import dialectic_pb2 as pb
from concord.graph.v1 import conflict_pb2
from rich.console import RenderableType

from concord_client.cli.render.page import lines, table, text, word


def page(found: pb.Synthesis) -> list[RenderableType]:
    """A synthesis: its summary, text, theses, contradictions and reasoning."""
    method = word(pb.SynthesisMethod, found.method)
    model = f" {found.metadata.model}" if found.method == pb.SYNTHESIS_METHOD_MODEL else ""
    parts: list[RenderableType] = [
        text(found.summary, "bold"),
        text(f"Composed by: {method}{model}", "dim"),
        *_degraded(found),
        "",
        lines(*map(text, found.text.splitlines())),
        "",
    ]
    if found.theses:
        parts.append(_theses(found))
    if found.contradictions:
        parts += [_contradictions(found), ""]
    parts.append(lines(*(text(line, "dim") for line in found.reasoning.splitlines())))
    return [*parts, *_kept(found.kept)]


def _degraded(found: pb.Synthesis) -> list[RenderableType]:
    if not found.HasField("degraded"):
        return []
    stage = word(pb.DialecticStage, found.degraded.stage)
    why = found.degraded.detail
    return [text(f"Degraded at {stage}: {why} From there on rules did the rest.", "bold red")]


def _theses(found: pb.Synthesis) -> RenderableType:
    made = table("#Thesis", "Source", "Claim", "#Sure", "Rests on")
    for each in found.theses:
        style = "" if each.is_kept else "dim"
        rests = dict.fromkeys([*each.legal_basis, *each.evidence])
        made.add_row(
            str(each.index),
            text(each.agent_source, style),
            text(each.claim, style),
            f"{each.confidence:.2f}",
            lines(*map(text, rests)),
        )
    return made


def _contradictions(found: pb.Synthesis) -> RenderableType:
    made = table("Theses", "About", "Severity", "Resolved by")
    for each in found.contradictions:
        strategy = word(pb.ResolutionStrategy, each.strategy)
        made.add_row(
            text(f"{each.thesis_a} and {each.thesis_b}"),
            word(conflict_pb2.ConflictType, each.type),
            word(conflict_pb2.ConflictSeverity, each.severity),
            text(strategy) if each.strategy else text("not resolved", "bold red"),
        )
    return made


def _kept(kept: pb.KeptSynthesis) -> list[RenderableType]:
    said = []
    if kept.memory_id:
        said.append(text(f"Kept as memory:{kept.memory_id}"))
    if kept.amended_ids:
        said.append(text(f"It amends {', '.join(kept.amended_ids)}."))
    said += [text(f"Review conflict? concord conflict {each}") for each in kept.conflict_ids]
    return list(said)
