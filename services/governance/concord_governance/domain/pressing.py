"""Turns of phrase that press (V3): what no single word gives away, in English and German.

The patterns are matched on texts as `spelling.plain` writes them: small letters without accents,
so that "für" is "fur" or "fuer" here.
"""

from __future__ import annotations

import re

_START = r"(?:(?<=^)|(?<=[.!?:;,)(\"'-] )|(?<=[.!?:;,)(\"'-])|(?<=^- ))"
"""Where a sentence or clause begins."""
_SOME = r"(?:\w+ ){0,3}"
_U = "ue?"
_AE = "ae?"
_OE = "oe?"

# What the reader is asked for, as a verb in whatever form.
_ANSWER = (
    r"(?:approv|accept|agree|consent|sign|confirm|reject|declin|refus|deny|denial|hesitat|"
    r"wait)\w*"
)
_ANTWORT = (
    rf"(?:zustimm|zuzustimm|genehmig|best{_AE}tig|annehm|annahm|unterschr|ablehn|abzulehn|"
    r"verweiger|wart)\w*"
)

# What a neutral text does not say of an answer, nor of what is proposed.
_JUDGED = (
    r"(?:important|vital|essential|imperative|necessary|key|urgent|a must|mistake|error|wrong|"
    r"right|good|bad|better|fine|correct|obvious|clear|evident|safe|risky|dangerous|unfair|fair|"
    r"shame|pity|no-brainer|in your interest|in your best interest|reasonable|unreasonable|"
    r"responsible|logical|only option|only choice|only way|about time|high time|serious|"
    r"a relief)"
)
_BEURTEILT = (
    rf"(?:wichtig|notwendig|n{_OE}tig|erforderlich|wesentlich|entscheidend|fehler|irrtum|falsch|"
    r"richtig|gut|schlecht|klar|logisch|geboten|angebracht|angezeigt|schade|ernst|riskant|"
    rf"sicher|verantwortlich|fair|unfair|unumg{_AE}nglich|einzige option|einzige wahl|einzige weg|"
    rf"in deinem interesse|in ihrem interesse|in eurem interesse|selbstverst{_AE}ndlich)"
)
_VERY = (
    r"(?:very|so|really|absolutely|extremely|too|most|truly|utterly|quite|simply|just|also|only|"
    r"an?|the|and|essential|crucial|highly|more|less|big|huge|grave|great|your)"
)
_SEHR = (
    rf"(?:sehr|so|wirklich|absolut|{_AE}u(?:ss|ß)erst|extrem|zu|{_U}beraus|ganz|einfach|nur|"
    r"auch|ein|eine|der|die|das|gro(?:ss|ß)er|schwerer|v[oö]llig|total|hochst|dringend)"
)

_ENGLISH = (
    # the reader is told what to do
    rf"{_START}(?:so |then |just |simply |now |and |do |only )?(?:approve|accept|agree|confirm|"
    r"sign|endorse|"
    r"reject|decline|refuse|deny|vote|consent)"
    r"(?: (?:this|it|that|these|those|now|today|both|all|the (?:proposal|change|request|edge|"
    r"memory)|"
    r"my|our|immediately|without|quickly|soon|to (?:this|it|the))\b|(?= ?[.!]| ?$))",
    r"(?:you (?:had|'d|would|could|can|will|may want to|might want to|want to|are going to|"
    r"need)|"
    r"you'd|you'll|you'?re|let'?s|let us|i ask you to|we ask you to|asked? (?:you )?to) "
    rf"{_SOME}{_ANSWER}",
    r"(?:say|vote|click|choose|pick|press|hit) (?:yes|approve|ok|accept)\b",
    r"give (?:it |this |us |me )?(?:your|the) (?:approval|consent|ok|signature|go-ahead)",
    rf"(?:do not|don't|never) {_ANSWER}",
    r"(?:i|we) would (?:approve|accept|sign|agree|consent|reject|refuse|decline)\b",
    rf"time to {_ANSWER}",
    rf"(?:you|they) (?:owe|deserve)\b|your (?:{_ANSWER}|yes|signature) "
    r"(?:means|matters|counts|would|will)\b",
    r"a (?:yes|no) (?:costs|would|will|means)\b",
    rf"{_START}(?:do it|just do|sign here)\b",
    # an answer, or what is proposed, is judged
    rf"{_ANSWER} (?:would|will) (?:hurt|harm|make|cause|help|ruin|cost|disappoint)\b",
    r"(?:it|this|that|which|these|they)(?:'s| is| was| would be| will be| seems| are| remains) "
    rf"(?:{_VERY} ){{0,3}}{_JUDGED}\b"
    r"(?! (?:for the|in the|on the|of the|name|on (?:mon|tues|wednes|thurs|fri|satur|sun)day))",
    rf"{_ANSWER} (?:\w+ ){{0,4}}(?:is|was|would be|will be|'d be|seems) (?:{_VERY} "
    rf"){{0,3}}{_JUDGED}\b",
    rf"(?:is|are) (?:{_VERY} )*(?:essential|vital|imperative|necessary|important) (?:that|to)\b",
    r"(?:very|really|absolutely|extremely|truly|utterly|most|so|too|highly) (?:important|vital|"
    r"essential|necessary|"
    r"good|bad|sensible)\b",
    r"important(?:ly)? ?[:!]",
    r"(?:good|bad|better|best|right|wrong) for (?:you|us|me|everyone|everybody|all|both)\b",
    r"in (?:your|our|everyone's) (?:best |own )?interests?\b",
    r"only (?:an? )?\w+ (?:would|could|will) (?:reject|refuse|decline|deny|hesitate|object|"
    r"disagree)",
    r"(?:no one|nobody|anyone|everyone|everybody|any (?:\w+ )?(?:person|agent|human)) (?:\w+ "
    r"){0,4}"
    r"(?:would|will|should|agrees?|agreed|approves?|approved|accepts?|accepted|objects?|"
    r"objected|wants|"
    r"rejects?|rejected|knows|likes)\b",
    r"you (?:will|would|'ll|'d|may) (?:\w+ )?(?:regret|lose|be sorry|miss|thank|suffer)\b",
    r"or else\b",
    # earlier answers
    r"(?:been |were |was |got |you |they |we |have )(?:\w+ ){0,2}(?:approved|accepted|agreed|"
    r"consented|signed|confirmed) (?:\w+ ){0,4}"
    r"(?:before|times|already|in the past|last time|earlier|similar|previously|ones|every time|"
    r"others|once|twice)\b",
    r"(?:previously|already|always|usually|repeatedly|routinely|consistently|often|recently) "
    r"(?:been )?(?:approved|accepted|agreed|consented|confirmed)\b",
    r"(?:approved|accepted|agreed) (?:similar|such|many|several|all|every|most|\d+|the (?:last|"
    r"previous|same))\b",
    r"(?:like|as) (?:last time|always|before|usual|the (?:last|previous|other) ones?)\b",
    r"(?:all|most|many) (?:\w+ )?(?:others|people|users|agents|experts)\b (?:\w+ "
    r"){0,2}(?:approv|accept|agree|consent|want|say)\w*",
    r"(?:requests|proposals|changes) (?:of this kind|like this|like it)\b",
    r"(?:previous|earlier|past|other) (?:requests|proposals|changes) (?:\w+ ){0,4}"
    r"(?:granted|approved|accepted)\b",
    # the writer's own voice
    r"(?:i|we) (?:strongly |kindly |really |would |do )*(?:ask|suggest|advise|propose that you|"
    r"need you|trust|expect|"
    r"count|rely|appeal)\b",
    r"strongly (?:suggest|advis|feel|believ|support|favou?r|oppos)\w*",
)

_GERMAN = (
    rf"{_START}stimm(?:e|en|t)? (?:sie |ihr |doch |jetzt |nun |einfach |dem |der |diesem |"
    rf"dieser |\w+ ){{0,4}}zu\b",
    rf"{_START}(?:genehmige|best{_AE}tige|unterschreibe?|akzeptiere|billige|unterzeichne|lehne|"
    r"nimm)n?\b"
    r"(?: (?:sie|das|dies|diese[nrs]?|es|den|die|jetzt|nun|ihn|bald|alle[s]?|nicht|doch|an|"
    r"ab)\b|(?= ?[.!]| ?$))",
    rf"{_START}(?:genehmigen|best{_AE}tigen|unterschreiben|akzeptieren|nehmen|lehnen) sie\b",
    rf"{_START}(?:mach|tu) (?:es|das)\b|sag(?:e|en sie)? (?:\w+ )?ja\b",
    rf"ein (?:ja|nein) (?:ist|w{_AE}re|kostet|hilft|schadet)\b",
    r"ohne (?:deine|ihre|eure) (?:zustimmung|unterschrift|genehmigung)\b",
    rf"(?:jetzt|nun|gleich|heute noch|schnell|rasch) (?:zu)?{_ANTWORT}",
    rf"(?:du|sie|ihr) (?:k{_OE}nn\w*|d{_U}rf\w*|w[ei]rd?\w*|w{_U}rd\w*|h{_AE}tt\w*) "
    rf"{_SOME}{_ANTWORT}",
    rf"(?:das|es|dies|dieser|diese|dieses|was)(?: ist| w{_AE}re| war| wird| bleibt| erscheint| "
    rf"scheint) (?:{_SEHR} ){{0,3}}{_BEURTEILT}(?:e[rsnm]?)?\b"
    rf"(?! (?:f{_U}r (?:den|die|das)|im|am|in der))",
    rf"{_ANTWORT} (?:\w+ ){{0,4}}(?:ist|w{_AE}re|war|bleibt|erscheint) (?:{_SEHR} "
    rf"){{0,3}}{_BEURTEILT}\b",
    rf"(?:sehr|absolut|{_AE}u(?:ss|ß)erst|extrem|{_U}beraus|wirklich) (?:wichtig|notwendig|"
    rf"n{_OE}tig|gut|schlecht)\w*",
    r"wichtig ?[:!]",
    rf"(?:gut|schlecht|besser|richtig|falsch) f{_U}r (?:dich|sie|uns|euch|mich|alle|beide)\b",
    r"in (?:deinem|ihrem|eurem|unserem) (?:eigenen |besten )?interesse\b",
    rf"nur (?:ein |eine )?\w+ (?:w{_U}rde|lehnt|lehnen|verweiger|z{_OE}ger|k{_OE}nnte)\w*",
    rf"(?:niemand|keiner|jeder|alle|jede) (?:\w+ ){{0,4}}(?:w{_U}rde|lehnt|stimmt|stimmen|"
    r"zugestimmt|genehmigt|wei(?:ss|ß)|"
    rf"will|einverstanden|daf{_U}r|dagegen)\b",
    rf"(?:bereits|schon|immer|stets|zuletzt|mehrfach|mehrmals|h{_AE}ufig|oft|wiederholt|\d+ "
    rf"?-?mal|{_U}blicherweise) (?:\w+ ){{0,2}}"
    rf"(?:genehmigt|zugestimmt|best{_AE}tigt|angenommen|akzeptiert|bewilligt)\b",
    rf"wie (?:immer|beim letzten mal|letztes mal|{_U}blich|gewohnt|zuvor)\b",
    r"(?:ich|wir) (?:\w+ )?(?:rate|raten|ersuche|ersuchen|fleh|appellier|empf|erwarte|"
    rf"z{_AE}hle|dr{_AE}nge|plädier|pladier)\w*",
    r"(?:wirst|werden) (?:du |sie |ihr )?es bereuen",
    r"sonst (?:\w+ ){0,3}(?:verlier|verlor|bereu|kaputt)\w*",
)

_SHOUTED = (r"!{2,}", r"\?!", r"!\?")

TURNS = re.compile(
    "|".join(rf"(?:(?<!\w)(?:{turn}))" for turn in (*_ENGLISH, *_GERMAN)) + "|" + "|".join(_SHOUTED)
)
"""Any of them."""

INNOCENT = re.compile(
    r"(?<!\w)(?:auf (?:die |eine |ihre |seine )?bitte|mit der bitte|die bitte|eine bitte|der "
    r"bitte)(?!\w)"
)
"""What looks like one of the listed words and only tells that somebody asked for something."""
