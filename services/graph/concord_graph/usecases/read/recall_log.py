"""Whether a space logs which memories its searches returned to whom (W8)."""

from concord_graph.ports import Reads, ServiceRecord


async def keeps_recalls(tx: Reads) -> bool:
    """Return whether the space's recall log is on."""
    return bool((await tx.service_record(ServiceRecord.RECALL_LOG)).get("on"))
