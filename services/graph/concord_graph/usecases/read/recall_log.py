"""Whether a space logs which memories its searches returned to whom (W8)."""

import json

from concord_graph.ports import Reads, ServiceRecord


async def keeps_recalls(tx: Reads) -> bool:
    """Return whether the space's recall log is on."""
    return bool(json.loads(await tx.service_record(ServiceRecord.RECALL_LOG) or "{}").get("on"))
