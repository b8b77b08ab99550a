"""An agent that recalls before it answers, and remembers what was said.

    python agent_loop.py

A model is whatever makes an answer of a prompt; the one here repeats what it remembers. The memory
is a whole Concord in this process, in the folder `memory`; `Concord.connect()` is one that runs.
"""

from collections.abc import Callable

import concord_client
from concord_client import Concord

Model = Callable[[str], str]


def turn(concord: Concord, model: Model, said: str, session: str) -> str:
    """One turn of the loop: recall, answer, remember."""
    found = concord.search(said, limit=5, session_id=session)
    known = "\n".join(f"- {each.memory.content}" for each in found.results)
    answer = model(f"You remember:\n{known}\n\nThe user says: {said}")
    concord.add(said, speaker="user", session_id=session)
    return answer


def correct(concord: Concord, former: str, now: str) -> str:
    """What changed is not written over: the new memory supersedes the former one, if that is found
    for sure; what merely comes first may be about something else."""
    found = concord.search(former, limit=1).results
    sure = [each.memory.id for each in found if each.confidence == "HIGH"]
    return concord.add(now, supersedes=sure).id


def repeat(prompt: str) -> str:
    """In the place of a model."""
    return prompt.partition("\n\n")[0]


if __name__ == "__main__":
    with concord_client.embedded("memory") as memory:
        while said := input("> "):
            print(turn(memory, repeat, said, session="terminal"))
