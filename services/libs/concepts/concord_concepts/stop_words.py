"""Words that say nothing about a text's subject, in English and German, folded (ß is ss)."""

ENGLISH = frozenset(
    """
    a about above after again against ago all almost along already also although always am among
    an and another any anybody anyone anything are aren't around as at away back be became because
    become becomes been before began being below between both but by came can can't cannot come
    comes could couldn't did didn't do does doesn't doing don't done down during each either else
    ever every everybody everyone everything few first for from further get gets getting give gives
    go goes going gone got had hadn't has hasn't have haven't having he he's her here hers herself
    him himself his how however i i'd i'll i'm i've if in instead into is isn't it it's its itself
    just keep kept know last least less let let's like likely made make makes many may maybe me
    might mine more most much must my myself need needs neither never next no nobody none nor not
    nothing now of off often on once one only onto or other others our ours ourselves out over own
    per perhaps please put quite rather really said same say says see seen shall she she's should
    shouldn't since so some somebody someone something soon still such take takes tell than that
    that's the their theirs them themselves then there there's therefore these they they're this
    those though through thus till to together too toward towards two under until up upon us use
    used uses using very via want wants was wasn't way we we'll we're we've well went were weren't
    what what's when where whether which while who who's whom whose why will with within without
    won't would wouldn't yes yet you you'll you're you've your yours yourself
    e.g i.e etc vs
    """.split()  # noqa: SIM905 - a word list reads as words
)

GERMAN = frozenset(
    """
    ab aber alle allem allen aller alles als also am an andere anderen anderer anderes auch auf aus
    bei beim bereits bin bis bist da dabei dadurch dafür dagegen daher damit danach dann daran
    darauf daraus darin darum darüber das dass davon dazu dein deine deinem deinen deiner dem den
    denen denn der deren des deshalb dessen dich die dies diese diesem diesen dieser dieses dir doch
    dort du durch ein eine einem einen einer eines einige einigen einmal er erst es etwas euch euer
    eure für gab gar geben gegen gibt haben habe hat hatte hatten hier hin hinter ich ihm ihn ihnen
    ihr ihre ihrem ihren ihrer im immer in ins ist ja je jede jedem jeden jeder jedes jedoch jene
    jetzt kann kannst kein keine keinem keinen keiner können könnte machen macht man manche mein
    meine meinem meinen meiner mehr mich mir mit muss musste müssen nach nachdem nein nicht nichts
    noch nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit sich sie sind so
    sogar solche soll sollen sollte sondern sonst soweit sowie trotzdem über um und uns unser unsere
    unserem unseren unter viel viele vielen vom von vor wann war waren warum was weil weiter welche
    welchem welchen welcher welches wem wen wenig wenn wer werde werden wegen weshalb wie wieder
    will wir wird wo wohl wollen wollte wurde wurden während würde zu zum zur zwar zwischen
    bzw usw z.b d.h u.a ggf
    """.split()  # noqa: SIM905 - a word list reads as words
)

STOP_WORDS = ENGLISH | GERMAN
