"""What an assistant keeps of its users in a LangGraph store, found by meaning.

    python langgraph_store.py

Needs `pip install 'concord-client[langgraph]'`. A graph gets the same store by
`builder.compile(store=store)`.
"""

import concord_client
from concord_client.langgraph import ConcordStore


def learn(store: ConcordStore, user: str, key: str, text: str) -> None:
    """Keep something of a user; what was kept by the same key stays in its history."""
    store.put(("users", user), key, {"text": text})


def recall(store: ConcordStore, user: str, asked: str) -> list[str]:
    """What is kept of a user and answers best."""
    return [item.value["text"] for item in store.search(("users", user), query=asked, limit=3)]


if __name__ == "__main__":
    with concord_client.embedded("memory") as memory:
        store = ConcordStore(memory)
        learn(store, "ada", "home", "Ada lives in Bremen.")
        learn(store, "ada", "tea", "Ada drinks tea at four.")
        print(recall(store, "ada", "Where does she live?")[0])
