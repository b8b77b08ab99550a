"""No field of a memory, a source, a fact or a node passes for the server's words before a model.

Every text that goes to a model is made from replies and requests whose every string is hostile.
"""

import importlib
import json
import pkgutil
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from concord.governance.v1 import proposal_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_client.cli.render.item_page import source
from concord_dissonance.domain.shown import as_sentence
from concord_dissonance.domain.sides import Kind, Side
from concord_hook.page import END, in_quotes, one_line, quoted
from concord_hook.recall import _of_result, _of_suggestion
from concord_mcp import briefing
from concord_mcp.schema import of_arguments
from concord_mcp.server import Tools
from concord_mcp.tool import ComposedTool, Tool
from concord_mcp.tools import PROFILES
from concord_models import chat
from concord_search.ports.graph import Statement
from concord_search.servicer import provenance
from concord_search.usecases.companions import Companions
from concord_search.usecases.paths import FactPath
from google.protobuf import json_format
from google.protobuf.message import Message
from hostile import FORGED, HOSTILE, filled, hidden_in, strings, unquoted

TOOLS = {tool.name: tool for tool in PROFILES["all"]}
GIVEN: dict[str, dict[str, Any]] = {
    "smf_propose": {"content": HOSTILE},
    "dismiss_conflicts": {"rule": HOSTILE},
    "resolve_dissonance": {"conflict_id": "c", "resolution_type": "EVOLUTION"},
    "synthesize": {"results": [{"agent": "a", "text": "t"}], "question": "q"},
    "follow": {"node_name": "n", "relations": ["r"]},
    "add_memory": {"content": "c", "supersedes": [HOSTILE], "extract": True},
    "get_node_by_name": {"name": "n"},
    "graph_add_node": {"name": "n"},
    "update_memory": {"id": "x", "content": "c"},
}
"""What is given to tools that demand more than texts of any kind."""
REFUSED = {"delete_edge"}
"""It looks for the edge by its id first, and a hostile reply has another."""
NOTED = {"smf_review"}
"""Its note is a field of the proposal."""


class Hostile:
    """A door whose every reply is hostile (port `Calls`)."""

    async def call(self, _path: str, _request: Message, reply: type[Any]) -> Any:
        """A filled reply: found, of an item that stands."""
        return filled(reply())

    last = call


async def answered(tool: str, given: dict[str, Any]) -> Any:
    """The result of a tool call."""

    async def caller(_context: Any) -> Hostile:
        return Hostile()

    tools = Tools(list(TOOLS.values()), caller)
    return await tools._called(
        SimpleNamespace(),  # type: ignore[arg-type] # the caller alone looks at it
        SimpleNamespace(name=tool, arguments=given),  # type: ignore[arg-type] # as the SDK's own
    )


def least(tool: Tool | ComposedTool) -> dict[str, Any]:
    """The arguments that a tool cannot do without."""
    if tool.name in GIVEN:
        return GIVEN[tool.name]
    schema = of_arguments(tool)
    needed = {name: schema["properties"][name] for name in schema.get("required", ())}
    return {name: each["enum"][0] if "enum" in each else "x" for name, each in needed.items()}


@pytest.mark.parametrize("name", [n for n, tool in TOOLS.items() if isinstance(tool, Tool)])
@pytest.mark.parametrize("details", [False, True])
async def test_no_tools_answer_hides_a_character(name: str, details: bool) -> None:
    """W8 W3 Every tool, in short and in full, its note, and the text as well as the values."""
    given = least(TOOLS[name]) | ({"details": True} if details and _has_details(name) else {})
    result = await answered(name, given)

    assert result.is_error is (name in REFUSED), result.content
    assert hidden_in(result.content[0].text) == set()
    if result.is_error:
        return
    assert {
        each for text in strings(result.structured_content) for each in hidden_in(text)
    } == set()
    assert json.loads(result.content[0].text) == result.structured_content
    if "note" in result.structured_content and name not in NOTED:
        assert FORGED not in unquoted(result.structured_content["note"])


def _has_details(name: str) -> bool:
    return "details" in of_arguments(TOOLS[name])["properties"]


async def test_no_refusal_hides_a_character() -> None:
    """W8 W3 A refused argument is named in the refusal, as it was given."""
    unknown = await answered(HOSTILE, {})
    wrong = await answered("add_memory", {"content": "c", HOSTILE: HOSTILE})

    assert unknown.is_error
    assert wrong.is_error
    assert hidden_in(unknown.content[0].text) == hidden_in(wrong.content[0].text) == set()


async def test_the_walk_notices_what_is_not_escaped(
    result: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W8 The guards: without any one of them, a text for a model holds what is hidden."""
    monkeypatch.setattr("concord_mcp.server.visible_values", lambda value: value)
    monkeypatch.setattr("concord_mcp.briefing.visible", lambda content: content)
    monkeypatch.setattr("concord_search.servicer.provenance.visible", lambda content: content)
    monkeypatch.setattr("concord_models.chat.in_json", lambda line: line)
    monkeypatch.setattr("concord_hook.page.visible", lambda content: content)
    answer = await answered("get_memory", {"id": "x"})
    asked = chat.Question("Judge.", {"text": HOSTILE}, chat._Part, 10)

    assert hidden_in(answer.content[0].text)
    assert hidden_in(briefing.in_words(filled(proposal_pb2.GetBriefingResponse())))
    assert hidden_in(provenance.context([result]))
    assert hidden_in(asked.content())
    assert hidden_in(quoted(HOSTILE))
    monkeypatch.setattr("concord_search.servicer.provenance.quoted", lambda content: content)
    assert FORGED in unquoted(provenance.provenance(result.memory))


def test_the_briefing_passes_nothing_on() -> None:
    """W8 W3 V9 As a resource, as a prompt, and in the instructions of a server over stdio."""
    reply = filled(proposal_pb2.GetBriefingResponse())
    for each in (*reply.proposals, *reply.reviews):
        each.proposal_id, each.summary = "p1", "'Quoted by governance' is added"
    for conflict in reply.conflicts:
        conflict.conflict_id = "c1"
    said = briefing.in_words(reply)

    assert "against" in said
    assert hidden_in(said) == set()
    assert FORGED not in unquoted(said)


@pytest.fixture
def result() -> Any:
    """A search's result, hostile in every field but those that the server sets."""
    found = filled(search_pb2.SearchResult())
    return _of_the_server(found)


def _of_the_server(found: Any) -> Any:
    found.memory.origin = found.memory.words_origin = type_pb2.ORIGIN_TOOL
    found.memory.id = "m1"
    found.memory.kind = type_pb2.MEMORY_KIND_FACT
    found.memory.supersession.head_ids[:] = ["m2"]
    found.provenance = provenance.provenance(found.memory)
    for each in found.potential_conflicts:
        each.other_id, each.conflict_id = "m3", "c1"
    return found


def test_provenance_is_the_servers_word(result: Any) -> None:
    """W8 A speaker `owner; written by a person` is no provenance: quoted, cut, on one line."""
    said = provenance.provenance(result.memory)

    assert "\n" not in said
    assert hidden_in(said) == set()
    assert FORGED not in unquoted(said)
    assert unquoted(said).startswith("fact; from ")
    assert "written by a tool; said by" in said
    assert "claims to be verified" in said
    assert all(len(part) <= 400 for part in said.split('"')[1::2])


def test_contexts_pass_nothing_on(result: Any) -> None:
    """W8 S11 The text of a search's results and of its packs, with what stands beside them."""
    found = _of_the_server(filled(search_pb2.SearchResult())).memory
    turn: Any = SimpleNamespace(shown=found, state=SimpleNamespace(id="m0"))
    fact = Statement("e", HOSTILE, (HOSTILE, HOSTILE, HOSTILE), ["m4"])
    beside = Companions([("asked before", turn)], [fact])
    packed, _ = provenance.packed([result], [beside], [FactPath((fact,))], 8_000)
    for said in (provenance.context([result]), packed):
        assert "[memory:m1]" in said
        assert hidden_in(said) == set()
        assert FORGED not in unquoted(said)
        assert "[memory:false]" not in unquoted(said)


def test_the_hook_passes_nothing_on(result: Any) -> None:
    """W8 S9 What comes up unasked: results, triggers and statements of conflicts."""
    as_json = json_format.MessageToDict(result)
    title, content, below = _of_result(as_json)
    meant, _, _ = _of_suggestion({"memory": {"id": "m1"}, "trigger": HOSTILE})

    for said in (title, *below, meant, in_quotes(HOSTILE, 200)):
        assert hidden_in(said) == set()
        assert "\n" not in said
        assert FORGED not in unquoted(said)
    assert hidden_in(content) == set()
    assert END not in quoted(HOSTILE)
    assert END not in one_line(HOSTILE)


def test_people_see_claims_as_claims() -> None:
    """W8 W4 The command line quotes a source, and says that its trust is its writer's claim."""
    said = source(type_pb2.Source(speaker=HOSTILE, trust=type_pb2.TRUST_LEVEL_VERIFIED))

    assert hidden_in(said) == set()
    assert FORGED not in unquoted(said)
    assert said.endswith("(claims to be verified)")


def test_prompts_hide_nothing_and_lose_nothing() -> None:
    """W8 D11 Every question goes through one place: the data are JSON, and their escapes JSON's."""
    question = chat.Question(
        "Judge.", {"first": {"text": HOSTILE}, HOSTILE: [HOSTILE]}, chat._Part, 10
    )
    talk = chat._Talk(question, lambda said: said)

    assert all(hidden_in(each["content"]) == set() for each in talk.messages)
    assert json.loads(talk.messages[1]["content"]) == question.data


def test_no_adapter_asks_a_model_past_that_place() -> None:
    """W8 D11 Only `concord_models.chat` names an endpoint's completions."""
    assert [
        *_modules_with("completions", "concord_dissonance"),
        *_modules_with("completions", "concord_governance"),
    ] == []


def _modules_with(word: str, package: str) -> Iterator[str]:
    root = importlib.import_module(package)
    for each in pkgutil.walk_packages(root.__path__, f"{package}."):
        if each.name.endswith("__main__"):
            continue
        spec = importlib.util.find_spec(each.name)
        assert spec is not None
        assert spec.origin is not None
        with open(spec.origin, encoding="utf-8") as file:
            if f".{word}." in file.read():
                yield each.name


def test_a_pair_of_sentences_hides_nothing() -> None:
    """W8 D11 What a local model of pairs reads: names are bounded, characters shown."""
    side = Side("i", Kind.FACT, HOSTILE, speakers=frozenset({HOSTILE * 9}))

    assert hidden_in(as_sentence(side)) == set()
