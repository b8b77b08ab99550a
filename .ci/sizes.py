"""Fails on a room above its ceiling, and on a module over 400 lines or a folder over 25 files.

A room's ceiling falls by deletion: whoever takes lines out lowers it. It rises only by a line in
`RISES`, with its reason; those of before 2026-11-28 are in this file's history. A module or folder
that is listed with a ceiling of its own leaves the list when it needs it no more.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_LINES, MOST_FILES = 400, 25
GENERATED = "protos/gen/"
ROOMS = {
    "deploy/embedded": 2732,
    "deploy/neo4j": 306,
    "gateway/client": 26754,
    "gateway/concord_gateway": 7918,
    "gateway/mcp_server": 3282,
    "protos/concord": 9354,
    "services/dissonance": 14912,
    "services/governance": 9969,
    "services/graph": 31910,
    "services/libs/attestation": 2197,
    "services/libs/chassis": 4849,
    "services/libs/concepts": 684,
    "services/libs/models": 857,
    "services/libs/reading": 3743,
    "services/libs/stores": 1304,
    "services/search": 16879,
    "tests": 120101,
    "tools": 640,
}
"""The most lines of a room's Python, SQL and contracts, without tests, and of all tests."""
RISES: list[tuple[str, int, str]] = []
RISES: list[tuple[str, int, str]] = [
    ("services/governance", 5, "how a ledger keeps a proposal's end: it was a decision page"),
    ("services/libs/attestation", 8, "consent's refusals state their reason and code"),
    ("services/libs/chassis", 27, "one translation of refusals, in place of four tables"),
    ("services/governance", 20, "a revision of another version is refused by name"),
    ("services/libs/stores", 5, "a store of another schema is refused with what to run"),
    ("services/graph", 4, "what an export has of sessions: it was a decision page"),
    ("tests", 107, "pages list all that there is, and their links lead somewhere"),
    ("tests", 100, "only tests sign grants, and a deletion for both: it was in the client"),
    *((room, 2, "an import more, since the chassis has rooms") for room in ROOMS),
    ("tests", 46, "each error class of each service has a code and a reason"),
    ("tools", 97, "`make quick` finds the nearest tests of a change"),
    ("services/dissonance", 20, "what models may cost a day is decided here: it was in graph"),
    ("services/libs/chassis", 110, "records that services keep in graph, changed with their etags"),
    ("services/search", 123, "votes, moves and claims are decided here: they were in graph"),
    ("tests", 81, "records of services are tested as such, their rules by themselves"),
    ("tools", 133, "these lines"),
    ("gateway/client", 11, "importers read the rules of presets, too"),
    ("services/dissonance", 6, "the guards of models' spaces have names, as their tests ask"),
    ("tests", 27, "a value's heads on any page, and a consent that is used once"),
    ("services/graph", 175, "reading and restoring its store for a backup: it was in deploy"),
    ("services/governance", 190, "reading and restoring its ledger for a backup: it was in deploy"),
    ("services/libs/stores", 26, "a database's nodes by label, for both services' backups"),
    ("services/dissonance", 3, "its errors of the start have one name: deploy knew each"),
    ("services/search", 4, "its errors of the start have one name: deploy knew each"),
    ("gateway/client", 3, "two steps of a review are functions: they were methods"),
    ("gateway/client", 158, "commands import messages when they run: help starts at once"),
    ("services/graph", 710, "how items stand is decided and kept at the write: reads did it"),
    ("services/libs/stores", 8, "a database of the schema before is converted"),
    ("tests", 740, "each write leaves what would be worked out anew, on former data too"),
    ("tests", 10, "the guard of what is open is on the list of guards"),
    ("services/libs/chassis", 90, "graph's feed and a service's start are here: four had them"),
    ("gateway/concord_gateway", 12, "a streaming reply is a method of its own again, and prompt"),
    ("services/graph", 18, "of two that convert, the one overtaken waits"),
    ("deploy/embedded", 1, "a secret is written where its folder is, and makes none"),
    ("tests", 215, "what a last reading missed: reviews, isolation, refusals, backups"),
    ("services/libs/reading", 2125, "reads sentences (issue 32), where judges had words"),
    ("tests", 180, "that the parser is the one expected, and what it reads: issue 32"),
    ("protos/concord", 50, "findings by rule and group, and dismissed by these"),
    ("gateway/client", 75, "a check's findings are shown, and dismissed, by rule and group"),
    ("gateway/mcp_server", 21, "an agent dismisses many findings at once"),
    ("services/graph", 35, "conflicts have groups and sessions, and are dismissed by these"),
    ("services/governance", 115, "a proposal's summary names its items"),
    ("tests", 530, "findings by rule and group, diaries, one proposal a pair, summaries"),
    ("gateway/client", 42, "what nobody opened is left out of an approval of many"),
    ("tests", 20, "what was opened here, and what was revised since"),
    ("gateway/client", 9, "a briefing says where the rest of it stands"),
    ("protos/concord", 1, "what a briefing shows of each kind"),
    ("tests", 51, "a briefing counts what it does not show"),
    ("gateway/client", 6, "a clash in words alone is said as one that may be"),
    ("protos/concord", 3, "a clash says whether a judge went by words alone"),
    ("tests", 26, "a clash in words is no flag"),
    ("services/dissonance", 1053, "facts that texts state, by reading and by a model"),
    ("protos/concord", 110, "ExtractFacts, with its candidates, outcomes and counts"),
    ("gateway/client", 326, "`concord extract`, its verb and their page"),
    ("tests", 522, "what is and what is no fact of a text, and poisoned replies"),
    ("services/dissonance", 570, "syntheses answer their question; health names a missing parser"),
    ("tests", 1100, "both readings of sentences, the judge of frames, checks of blind material"),
    ("protos/concord", 7, "facts and edges say that they were extracted"),
    ("services/graph", 90, "an extracted value ends none until somebody states it"),
    ("tests", 300, "extracted facts in graph, its replay and its random writes"),
    ("services/dissonance", 600, "texts are read once and in the background, their sketches kept"),
    ("tests", 240, "what a check of few changes costs, and what is kept of texts"),
    ("gateway/client", 110, "facts are added with a memory, or proposed together"),
    ("gateway/mcp_server", 70, "an agent adds a memory with the facts of its text"),
    ("protos/concord", 40, "judges' versions, numbers of conflicts, former findings end"),
    ("services/dissonance", 240, "templates, amounts of two units, models' opinions"),
    ("services/governance", 10, "the briefing leaves out what is UNDECIDED"),
    ("services/graph", 95, "former findings end, and numbers name conflicts"),
    ("gateway/client", 25, "differing words of a conflict's sides are marked"),
    ("deploy/embedded", 7, "the file of texts' sketches is in the data directory"),
    ("services/dissonance", 125, "answers of syntheses in more fields of law"),
    ("services/dissonance", 39, "words outside of frames limit texts; taken facts hide none"),
    ("tools", 7, "and these seven, with two folders and a long test"),
    ("tools", 30, "a line for each rise of a room"),
    (
        "services/search",
        290,
        "packs of results; a fact's words are found, and a result names the fact that matched",
    ),
    ("tests", 500, "facts are found by their words, and packed"),
    ("gateway/client", 35, "packs; turns of a dialogue as an import reads them"),
    ("services/search", 275, "every script is matched by its characters, and read or said unread"),
    ("tests", 480, "spellings, unread texts, and three benchmarks with material of their own"),
    ("protos/concord", 5, "a search says which results it is not sure of"),
    ("services/libs/concepts", 20, "a trigger that any situation meets is told apart"),
    ("tests", 420, "tests of conflicts' numbers, ends, templates and opinions"),
    ("gateway/mcp_server", 15, "tools quote where a conflict's sides disagree"),
    ("services/dissonance", 280, "syntheses read places, bounds, kinds and sources' weight"),
    ("tests", 180, "answers that do and do not exclude each other"),
    ("services/dissonance", 160, "suggestions without a place wait, and come up later"),
    ("tests", 130, "that no suggestion is lost, over restarts, erasures and expiries"),
    ("tests", 95, "what a check of a search's results takes"),
    ("protos/concord", 10, "how many texts are unread"),
    ("tests", 40, "these, beside those of packs, and rare words alone"),
    ("services/dissonance", 45, "a file of sketches is of one process, by a lock"),
    ("tests", 110, "deaths while texts are read, and replicas with files of their own"),
    ("protos/concord", 12, "findings that are not found in changed words end by name"),
    ("services/graph", 20, "of findings that are named those of former words end"),
    ("services/dissonance", 70, "findings of changed words are judged anew, near or not"),
    ("tests", 180, "which findings of changed words end, and which stay"),
    ("services/dissonance", 35, "an inference model hears who said a text, when and as what"),
    ("tests", 50, "what models of pairs of sentences are told"),
    ("services/dissonance", 60, "how many texts are unread, found without a parse"),
    ("services/search", 30, "the state of an index says what is unread"),
    ("tests", 150, "what is unread is counted, and unset where nobody knows"),
    ("gateway/client", 1300, "what clients' hooks run, and their installation: issue 33"),
    ("tests", 1270, "hooks on a real system and where all fails, and their bench"),
    ("services/libs/reading", 1490, "the one table of time phrases, read as windows (issue 33)"),
    ("services/search", 445, "times in questions rank, and the things that they are relative to"),
    ("gateway/client", 60, "a search's own today, its window taken off, its times named"),
    ("protos/concord", 40, "the times that a query names, and what was made of each"),
    ("tests", 810, "150 phrases of time, what they rank, and questions about the past"),
    ("services/search", 98, "meaning without common words, passages, the bound beside text"),
    ("tests", 492, "plain facts measured and fitted, spaces of few memories, the bound's property"),
    ("services/search", 55, "what held then is sure, and nothing that only looks alike"),
    ("tests", 145, "guards of both, and of texts that end in a month"),
    ("services/search", 440, "questions over several hops are read and walked; edges are results"),
    ("gateway/client", 40, "found edges and paths in the client and its pages"),
    ("protos/concord", 25, "paths of facts, and edges as results"),
    ("services/libs/reading", 15, '"vor Kaspar" is read beside a verb in the past'),
    ("tests", 460, "questions over several hops, edges as results, bounds of packs"),
    ("services/search", 180, "chains ordered before the page, the replaced that is left out named"),
    ("services/libs/reading", 65, "phrases of time that a fresh reader found unread or misread"),
    ("protos/concord", 12, "a superseded match, and what did not fit into a pack"),
    ("gateway/client", 12, "what a pack left out is printed; the fact that matched in hooks"),
    ("gateway/mcp_server", 8, "a pack is sent in place of the results"),
    ("tests", 290, "no text fails the reader of times; order, lines and packs on any page"),
    (
        "services/libs/attestation",
        98,
        "how foreign text is quoted: rooms had it of their own, or not",
    ),
    ("services/libs/models", 2, "what models are asked hides no character"),
    ("gateway/mcp_server", 18, "tools' answers and notes hide no character, and quote"),
    ("services/search", 40, "provenance quotes what callers claim, and trust is the server's"),
    ("tests", 340, "a walk over all texts for models with hostile fields (issue 34)"),
    ("deploy/embedded", 15, "a data directory that others may look into is refused"),
    ("gateway/concord_gateway", 25, "a token is for the services that a call reaches"),
    ("protos/concord", 10, "whose words a memory's are, and what trust is established"),
    ("services/governance", 91, "names that look reserved; what services' keys may claim"),
    ("services/graph", 172, "whose words stand, their trust, and what is drawn from what"),
    ("services/libs/chassis", 21, "a token's audience, and what its issuer may claim"),
    ("services/search", 18, "a filter by whose words they are, and what it says of them"),
    ("tests", 860, "laundering, stolen service keys, look-alikes, whose words stand"),
    ("services/graph", 1320, "forgetting somebody whole: the look, the plan, the receipt"),
    ("protos/concord", 230, "ErasureService, and erased words of proposals"),
    ("gateway/client", 475, "`concord erase --subject`, its pages, and receipts verified"),
    ("services/governance", 88, "proposals' words are erased, and erasures entered in the log"),
    ("gateway/concord_gateway", 2, "one service more"),
    ("services/graph", 1740, "the guard of higher principals' items, and claims (issue 34)"),
    ("protos/concord", 400, "ClaimService, and what each write's reply says of claims"),
    ("gateway/client", 520, "`concord claims` and `claim`, their verbs, and marks of claims"),
    ("gateway/mcp_server", 15, "tools say what a write only claims, and whom to ask"),
    ("gateway/concord_gateway", 3, "a contract more"),
    ("services/search", 45, "a memory that claims another's place stands beside it, and says so"),
    ("tests", 1780, "every write RPC against a person's items; claims, their states and doors"),
    ("deploy/embedded", 20, "the times of backups are kept, for receipts of erasures"),
    ("services/search", 8, "an erasure by selection is confirmed by its id"),
    ("tests", 1190, "forgotten people's words in every file, export and backup"),
    (
        "services/search",
        280,
        "paths, chains, times that leave the words, claims beside items",
    ),
    ("services/graph", 40, "whose words a claimed rewording has"),
    ("gateway/client", 60, "the things of governance apart; claims marked in results and hooks"),
    ("gateway/mcp_server", 25, "claims and whose words beside each other, and in a note"),
    ("services/governance", 10, "proposals' words erased by capped keys"),
    ("services/libs/reading", 10, "periods within things, and names after vor"),
    ("services/search", 240, "names of facts beside relations, fixed times, German stop words"),
    ("protos/concord", 130, "what lesser forms of a permission let a key do, by method"),
    ("services/libs/chassis", 50, "how far the permission reaches that lets a call in"),
    ("services/graph", 130, "keys that append, or change their own, decided by revisions"),
    ("services/governance", 10, "the scopes append and own"),
    ("gateway/mcp_server", 20, "tools that a lesser form of a permission may call"),
    ("tests", 1000, "a walk with keys that append or change their own, and the page of RPCs"),
    ("tests", 290, "facts beside other people, years beside subjects, windows left out of words"),
    ("services/graph", 1120, "undoing by selection: the look, what is left and why, the parts"),
    ("protos/concord", 175, "UndoService, and who first wrote a memory"),
    ("gateway/client", 210, "`concord undo --principal`, its pages, and lists by principal"),
    ("gateway/concord_gateway", 1, "one service more"),
    ("tests", 880, "undo by selection, who may, over a kill -9, and by the command line"),
    ("gateway/mcp_server", 33, "searching finds edges and names the times of a query: issue 33"),
    ("tests", 25, "what the tool for searching takes and hands on: issue 33"),
    ("services/search", 16, "less evidence surfaces what is far ahead of the rest: issue 33"),
    ("tests", 47, "suggestions at more kinds of work, and by a lead: issue 33"),
    ("services/search", 10, "compounds are found by their parts, and no longer for it: issue 33"),
    ("tests", 95, "parts of compounds, on German questions too: issue 33"),
    ("services/search", 10, "finds that differ by length alone have no scale: issue 33"),
    ("tests", 55, "eight people's facts in one space, and that scale: issue 33"),
    (
        "gateway/concord_gateway",
        495,
        "sessions at the page, and streams as lines of JSON (issue 35)",
    ),
    ("protos/concord", 60, "codes and sessions of AccessService"),
    ("services/governance", 250, "codes and sessions in both ledgers"),
    ("services/libs/chassis", 3, "a gateway's token says for governance which key was shown"),
    ("tests", 980, "sign-ins before two gateways, streams over HTTP"),
    ("deploy/embedded", 16, "the link to the page that `concord up` prints"),
    ("gateway/client", 45, "`concord page`"),
    ("services/graph", 40, "all who wrote or state an item are asked, and equals ahead of equals"),
    ("services/search", 190, "what persons said keeps its places beside lower writers' texts"),
    ("tests", 1400, "the bench of governance, with 50 questions; who owns an item"),
    ("services/search", 16, "of a page's results the best one alone is MEDIUM: issue 33"),
    ("tests", 57, "which of a page's results are MEDIUM: issue 33"),
    ("gateway/concord_gateway", 680, "OpenAPI from the descriptors, and the contract as a page"),
    ("tests", 415, "OpenAPI against each method's cases and rules, and a generated client"),
    ("gateway/concord_gateway", 2540, "the page: its modules and its sheet count, too (issue 35)"),
    ("gateway/client", 15, "what undo and scopes say, joined"),
    ("tests", 680, "the page in a real browser, and before a server that lies"),
    ("tests", 1580, "the bench of governance, with 50 questions; who owns an item"),
    ("protos/concord", 3, "what order results have beside what a person said"),
    ("services/libs/chassis", 73, "health without TLS, at an address of its own"),
    (
        "deploy/embedded",
        166,
        "a Secret of Kubernetes, and an upgrade's conversions",
    ),
    ("tests", 1480, "the Helm chart over a matrix of values; health without TLS"),
    ("tools", 313, "the lines of this list"),
    ("services/search", 702, "spaces as tenants of shards, a cache of their columns"),
    ("tests", 300, "a space among many is as alone, and what its files say"),
    ("tools", 3, "these three lines of the index"),
    ("tools", 5, "these five lines of the bench of governance"),
    ("protos/concord", 74, "the feed by partitions: spaces by page, one space's changes"),
    ("services/graph", 587, "changes are numbered by partition, and read by it, on both stores"),
    ("services/libs/chassis", 11, "which partition a space falls into, the same for every service"),
    ("services/libs/stores", 9, "a backup holds a few counters, in place of every space"),
    ("gateway/concord_gateway", 318, "whole spaces drawn, dashed lines, stale bases, fewer calls"),
    ("tests", 440, "the page's bench, what changes while it is open, and at an address"),
    ("tools", 3, "these three lines more"),
    ("services/graph", 280, "who speaks first hides nothing; what claims ask for"),
    ("services/search", 15, "a claimed contradiction moves no next step"),
    ("gateway/client", 5, "what a claim asks for"),
    ("gateway/mcp_server", 1, "whose words a result is, in the short form, too"),
    ("tests", 500, "each way to speak first, claims of the forgotten, forged imports"),
    ("tools", 25, "these lines of issues 33 and 34"),
    ("services/search", 14, "each lower writer keeps places on the page, too (issue 34)"),
    ("tests", 105, "places of each writer, of corrections, and what they cost honest spaces"),
    ("services/libs/chassis", 41, "cursors of partitions, of which work ends in any order"),
    ("services/search", 436, "workers of spaces, stores put back compared, small spaces small"),
    ("services/governance", 314, "partitions' cursors in both ledgers, changes of many at once"),
    ("services/dissonance", 150, "how far it heard is kept: each start looked at every space"),
    ("tests", 1010, "followers of partitions, older stores, idle spaces; a system of many"),
    *(
        (room, more, "branches that were joined, each short of a few")
        for room, more in (
            ("deploy/embedded", 1),
            ("protos/concord", 6),
            ("services/graph", 50),
            ("services/libs/chassis", 5),
            ("services/search", 40),
            ("tests", 530),
        )
    ),
    ("tests", 690, "the feed by partitions, its order under writers, its cost at 50,000 spaces"),
    ("services/search", 65, "what only replaced memories state is left out; plans are found"),
    ("tests", 150, "times, packs and short questions as a reviewer found them (issue 33)"),
]
"""Lines that a room may have above its ceiling, and what for."""
SLACK = 100
"""Lines that a room may be below its ceiling before the ceiling falls."""
LINES: dict[str, int] = {
    "gateway/client/tests/test_cli_governance.py": 480,
    "gateway/client/tests/test_import_chat.py": 500,
    "gateway/tests/gateway_echo.py": 450,
    "gateway/tests/test_gateway_http_unary.py": 500,
    "services/graph/tests/graph_world.py": 768,
    "services/libs/attestation/tests/test_consent_checks.py": 600,
    "services/dissonance/tests/test_judges_text.py": 450,
    "services/libs/reading/tests/test_reading_contract.py": 450,
    "services/libs/reading/tests/test_times.py": 475,
    "tests/adversary/attack.py": 800,
    "tests/adversary/test_governance_guards.py": 900,
    "tests/contract/cases/contract_homes.py": 661,
    "tests/e2e/test_access.py": 550,
    "tests/e2e/test_search_service.py": 700,
    "tests/e2e/test_signing_page.py": 450,
    "tests/governed/governed_world.py": 510,
    "tests/security/test_guards.py": 750,
    "tests/security/test_space_isolation.py": 470,
}
FILES = {
    "gateway/client/tests": 62,  # a module a command, or a matter of an importer
    "services/decisions": 114,  # a page a decision
    "services/dissonance/tests": 27,  # a module a noun of dissonance's
    "services/graph/concord_graph/domain": 26,  # a module a noun of graph's domain
    "services/graph/tests": 102,  # a module a noun of graph's
    "services/search/concord_search/usecases": 30,  # a module a use case
    "services/search/tests": 38,  # a module a noun of search's
    "tests/adversary": 26,  # a module a kind of attack
    "tests/bench/findings/worlds": 34,  # a collection of memories and its gold
    "tests/bench": 68,  # a module a figure that `make bench` prints
    "tests/contract/cases": 46,  # a module a noun of the contracts, and what they are made from
    "tests/e2e": 87,  # a module a promise that takes several services
}


def tracked() -> list[str]:
    """Return the paths of all files of the repository, but for generated ones."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [
        p
        for p in listed.stdout.splitlines()
        if not p.startswith(GENERATED) and (ROOT / p).is_file()
    ]


def room_of(path: str) -> str:
    """The room of a file: a service, a library, a door; "tests" or "tools" for what is neither."""
    parts = path.split("/")
    if "tests" in parts or path == "conftest.py":
        return "tests"
    if parts[0] not in {"services", "gateway", "deploy", "protos"} or len(parts) == 2:
        return "tools"
    return "/".join(parts[: 3 if parts[:2] == ["services", "libs"] else 2])


def room_breaches(rooms: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each room that is above its ceiling, far below it, or has none."""
    for room in sorted({*rooms, *ROOMS}):
        size = rooms.get(room, 0)
        ceiling = ROOMS.get(room, 0) + sum(more for name, more, _ in RISES if name == room)
        if size > ceiling:
            yield f"{room}: {size} lines, at most {ceiling}"
        elif size < ceiling - SLACK:
            yield f"{room}: {size} lines: lower its ceiling of {ceiling}"


def breaches(sizes: Mapping[str, int], most: int, ceilings: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each size above its limit, and for each ceiling that is needed no more."""
    for path, size in sorted(sizes.items()):
        if size > ceilings.get(path, most):
            yield f"{path}: {size}, at most {ceilings.get(path, most)}"
    for path in ceilings:
        if sizes.get(path, 0) <= most:
            yield f"{path}: {sizes.get(path, 0)} needs no exception: take out its line"


def main() -> int:
    """Print what is too long; return 1 if anything is."""
    paths = tracked()
    counted = {
        p: len((ROOT / p).read_text("utf-8").splitlines())
        for p in paths
        if p.endswith((".py", ".sql", ".proto", ".js", ".css")) and "/vendor/" not in p
    }
    rooms: Counter[str] = Counter()
    for path, size in counted.items():
        rooms[room_of(path)] += size
    modules = {p: size for p, size in counted.items() if p.endswith(".py")}
    folders = Counter(str(Path(p).parent) for p in paths)
    found = [
        *room_breaches(rooms),
        *breaches(modules, MOST_LINES, LINES),
        *breaches(folders, MOST_FILES, FILES),
    ]
    for line in found:
        print(line)  # noqa: T201 # a check says what it found
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
