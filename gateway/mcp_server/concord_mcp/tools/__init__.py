"""The tools by profile: the few of the default profile are in every other one, too."""

from collections.abc import Mapping

from concord_mcp.tool import ComposedTool, Tool
from concord_mcp.tools import dialectic, everyday, governance, graph, signing

DEFAULT = "default"

PROFILES: Mapping[str, tuple[Tool | ComposedTool, ...]] = {
    DEFAULT: everyday.TOOLS,
    "graph": (*everyday.TOOLS, *graph.TOOLS),
    "governance": (*everyday.TOOLS, graph.UPDATE_MEMORY, *governance.TOOLS, *signing.TOOLS),
    "dialectic": (*everyday.TOOLS, *dialectic.TOOLS),
    "all": (
        *everyday.TOOLS,
        *graph.TOOLS,
        *governance.TOOLS,
        *signing.TOOLS,
        *dialectic.TOOLS,
    ),
}
