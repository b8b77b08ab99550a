"""The tools by profile: the few of the default profile are in every other one, too."""

from collections.abc import Mapping

from concord_mcp.tool import ComposedTool, Tool
from concord_mcp.tools import dialectic, everyday, governance, graph, memories, signing

DEFAULT = "default"
SKILL = "governance"
"""The profile that has what the skill names; `concord mcp config` prints its settings."""

PROFILES: Mapping[str, tuple[Tool | ComposedTool, ...]] = {
    DEFAULT: everyday.TOOLS,
    "graph": (*everyday.TOOLS, *memories.TOOLS, *graph.TOOLS),
    SKILL: (
        *everyday.TOOLS,
        *memories.TOOLS,
        graph.END_SESSION,
        *governance.TOOLS,
        *signing.TOOLS,
    ),
    "dialectic": (*everyday.TOOLS, *dialectic.TOOLS),
    "all": (
        *everyday.TOOLS,
        *memories.TOOLS,
        *graph.TOOLS,
        *governance.TOOLS,
        *signing.TOOLS,
        *dialectic.TOOLS,
    ),
}
