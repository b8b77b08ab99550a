"""The words that the link grammar knows, in lower case: English and German."""

from concord_graph.domain.links import AMENDS, CONTRADICTS, DEPRECATES, SUPERSEDES


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PRESENT = {
    form: relation
    for stem, relation in [
        ("supersede", SUPERSEDES),
        ("deprecate", DEPRECATES),
        ("amend", AMENDS),
        ("contradict", CONTRADICTS),
    ]
    for form in (stem, stem + "s")
}
PAST = {
    "superseded": SUPERSEDES,
    "deprecated": DEPRECATES,
    "amended": AMENDS,
    "contradicted": CONTRADICTS,
}
NEGATIONS = _words(
    """
    not never no neither nor none nothing nobody nowhere without cannot hardly scarcely barely
    cant dont doesnt didnt wont wouldnt shouldnt couldnt isnt wasnt arent werent unable
    deny denies denied doubt doubts
    nicht nichts kein keine keinen keinem keiner keines nie niemals weder ohne nirgends kaum
    bestreite bestreitet bezweifle bezweifelt
    """
)
_UNTRUE = _words("wrong false untrue incorrect mistaken mistake error falsch unwahr irrtum fehler")
_UNTRULY = _words(
    "wrongly falsely mistakenly incorrectly erroneously fälschlich fälschlicherweise irrtümlich"
)
NEGATING_PAIRS = frozenset(
    [("rather", "than"), ("fail", "to"), ("fails", "to"), ("failed", "to"), ("refuses", "to")]
    + [(untrue, said) for untrue in _UNTRUE for said in ("that", "to", "dass", "daß")]
    + [(untruly, word) for untruly in _UNTRULY for word in PRESENT | PAST]
)
NEGATES_WHAT_IT_FOLLOWS = _words("nicht nie niemals")
CONDITIONS = _words(
    """
    if whether unless suppose supposing assuming provided perhaps maybe possibly
    ob wenn falls sofern angenommen vielleicht möglicherweise eventuell womöglich
    """
)
"""Before a relation word, or right after its links, they make its relation doubtful."""
MODALS = _words(
    """
    might may could would should can
    könnte könnten würde würden sollte sollten dürfte dürften kann können
    """
)
DOUBTING_PAIRS = frozenset([("in", "case"), ("im", "fall")])
THE_MONTH = "May"
ASKS = _words("do does did is are was were ist sind war waren")
"""As the first word of a sentence they make it a question, even without a question mark."""
PASSIVE_AUXILIARIES = _words(
    """
    is are was were be been being get gets got getting become becomes became
    it's that's they're we're ist sind war waren wird werden wurde wurden worden
    """
)
ENDS_THE_REACH = _words(
    """
    see cf by per via use using used because since unlike instead favour favor according thanks
    and or but while whereas although though however than
    siehe vgl durch von wegen weil statt seit laut und oder aber sondern obwohl
    """
)
MAKES_A_NOUN = _words("the a an its our my your their his her ein eine einen einem einer eines")
"""Right before a relation word, they make it part of a thing's name, not a relation."""
A_NAME_OR_ARTICLE = "A"
NAMED_BY_IT = _words(
    """
    relation relations relationship relationships link links edge edges keyword keywords means
    beziehung beziehungen relationen verknüpfung verknüpfungen kante kanten bedeutet heißt
    """
)
"""Right after a relation word, they do the same as MAKES_A_NOUN."""
NOT_ONLY = _words("only just merely nur bloß lediglich")
TURNS = _words("but sondern aber")
CARRIES_ON = _words("and or nor und oder noch")
JOINS_LINKS = _words("and und")
