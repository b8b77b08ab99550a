"""Concord's verbs as tools of a model behind an OpenAI-compatible endpoint.

    OPENAI_BASE_URL=http://127.0.0.1:8000/v1 OPENAI_API_KEY=none python openai_tools.py MODEL WORDS

The model calls tools until it answers; each call is one verb, each refusal is given to the model in
Concord's own words.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from concord_client import AsyncConcord, Refused
from openai import AsyncOpenAI

MOST_CALLS = 8
"""Rounds of tools before the answer."""


def tool(name: str, description: str, **texts: str) -> dict[str, Any]:
    """A function that takes texts, by their descriptions."""
    properties = {key: {"type": "string", "description": text} for key, text in texts.items()}
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {"type": "object", "properties": properties, "required": list(texts)},
        },
    }


TOOLS = [
    tool("recall", "Use when memory could know it: finds memories.", question="what to look for"),
    tool("remember", "Use when something new is worth keeping.", content="one sentence"),
    tool(
        "correct",
        "Use when a memory no longer holds: the new one supersedes it.",
        memory_id="of the one that no longer holds",
        content="what holds now",
    ),
]


class Memory:
    """The tools, called by name."""

    def __init__(self, concord: AsyncConcord) -> None:
        self._concord = concord
        self._tools: dict[str, Callable[..., Awaitable[object]]] = {
            "recall": self.recall,
            "remember": self.remember,
            "correct": self.correct,
        }

    async def call(self, name: str, arguments: str) -> str:
        """A tool's answer as JSON, or why there is none."""
        try:
            result = await self._tools[name](**json.loads(arguments))
        except (KeyError, TypeError, ValueError):
            result = {"error": f"There is no tool {name} that takes {arguments}."}
        except Refused as refused:
            result = {"error": refused.reason, "message": refused.message}
        return json.dumps(result, ensure_ascii=False)

    async def recall(self, question: str) -> object:
        """The best memories, with their ids."""
        answer = await self._concord.search(question, limit=5)
        return [{"id": each.memory.id, "content": each.memory.content} for each in answer.results]

    async def remember(self, content: str) -> object:
        """The new memory's id."""
        return {"id": (await self._concord.add(content)).id}

    async def correct(self, memory_id: str, content: str) -> object:
        """The id of what holds now."""
        return {"id": (await self._concord.add(content, supersedes=[memory_id])).id}


async def answer(model: AsyncOpenAI, name: str, concord: AsyncConcord, said: str) -> str:
    """What the model says, after as many calls of tools as it wants, up to `MOST_CALLS`."""
    memory = Memory(concord)
    messages: list[Any] = [{"role": "user", "content": said}]
    tools: Any = TOOLS
    for _ in range(MOST_CALLS):
        reply = await model.chat.completions.create(model=name, messages=messages, tools=tools)
        message = reply.choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            if call.type == "function":
                result = await memory.call(call.function.name, call.function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return ""


async def main(name: str, said: str) -> None:
    """Answer once, with the memory that runs on this machine."""
    async with AsyncConcord.connect() as concord, AsyncOpenAI() as model:
        print(await answer(model, name, concord, said))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], " ".join(sys.argv[2:])))
