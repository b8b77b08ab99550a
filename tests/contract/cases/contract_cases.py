"""The table: each method's full name and its cases."""

from access_contracts import ACCESS
from claim_contracts import CLAIM
from conflict_contracts import CONFLICT
from contract_registry import Contract
from dialectic_contracts import DIALECTIC
from dialogue_contracts import DIALOGUE
from dissonance_contracts import DISSONANCE
from episode_contracts import EPISODE
from erasure_contracts import ERASURE
from feed_contracts import FEED
from governance_contracts import AUDIT, PRINCIPAL, PROPOSAL
from governed_contracts import GOVERNED
from graph_contracts import GRAPH
from lineage_contracts import LINEAGE
from memory_contracts import MEMORY
from recall_contracts import RECALL
from record_contracts import RECORD
from relation_contracts import RELATION
from search_contracts import FEEDBACK, HEALTH, INDEX, SEARCH, SUGGESTION
from session_contracts import SESSION
from space_contracts import SPACE
from undo_contracts import UNDO
from working_memory_contracts import WORKING_MEMORY

SERVED = {
    "concord.graph.v1.GraphService": GRAPH,
    "concord.graph.v1.MemoryService": MEMORY,
    "concord.graph.v1.LineageService": LINEAGE,
    "concord.graph.v1.DialogueService": DIALOGUE,
    "concord.graph.v1.EpisodeService": EPISODE,
    "concord.graph.v1.WorkingMemoryService": WORKING_MEMORY,
    "concord.graph.v1.SpaceService": SPACE,
    "concord.graph.v1.RelationService": RELATION,
    "concord.graph.v1.SessionService": SESSION,
    "concord.graph.v1.RecordService": RECORD,
    "concord.graph.v1.RecallService": RECALL,
    "concord.graph.v1.ErasureService": ERASURE,
    "concord.graph.v1.UndoService": UNDO,
    "concord.graph.v1.ConflictService": CONFLICT,
    "concord.graph.v1.ClaimService": CLAIM,
    "concord.graph.v1.GovernedChangeService": GOVERNED,
    "concord.graph.v1.ChangeFeedService": FEED,
    "concord.governance.v1.AccessService": ACCESS,
    "concord.governance.v1.ProposalService": PROPOSAL,
    "concord.governance.v1.PrincipalService": PRINCIPAL,
    "concord.governance.v1.AuditService": AUDIT,
    "concord.search.v1.SearchService": SEARCH,
    "concord.search.v1.IndexService": INDEX,
    "concord.search.v1.FeedbackService": FEEDBACK,
    "concord.search.v1.MemoryHealthService": HEALTH,
    "concord.search.v1.SuggestionService": SUGGESTION,
    "concord.dissonance.v1.DissonanceService": DISSONANCE,
    "concord.dissonance.v1.DialecticService": DIALECTIC,
}

CONTRACTS: dict[str, Contract] = {
    f"{service}.{method}": contract
    for service, contracts in SERVED.items()
    for method, contract in contracts.items()
}
