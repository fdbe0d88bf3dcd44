"""How texts state, list, deny and conclude a choice: the patterns that `picked` reads by.

Every repeat is bounded, so that a search takes time linear in the text's length.
"""

from __future__ import annotations

import re

from agentbench_tui.scoring.markers import ANSWER_MARKER

_LETTER = r"(?<![A-Za-zÀ-ɏ0-9])(?P<letter>[A-Za-z])(?![A-Za-zÀ-ɏ0-9]|['’-][A-Za-z]|\+\+|#)"
_AND = r"and|or|and/or|und|oder|et|ou|y|o|e|en|of|и|или|as well as"
_FILLER = (
    r"(?:(?:the|my|either|both|between|most likely|likely|probably|possibly|maybe|perhaps|clearly|"
    r"definitely|indeed|actually|thus|la|also|else|even|therefore|option|options|choice|choices|letter|answer|"
    r"correct|statement|opción|opcion|choix|variante|选项)[\s:(\[]{1,4}){0,5}"
)
FIRST = re.compile(
    rf"[\s(\[:：=>→–—-]{{0,12}}{_FILLER}(?:选项)?[(\[<'‘]{{0,2}}\s?{_LETTER}", re.IGNORECASE
)
NEXT = re.compile(
    rf"[)\]]{{0,2}}(?:\s{{0,3}}(?P<mark>[,;/&+|、，])\s{{0,3}}(?:(?P<word>{_AND})\s{{1,3}})?"
    rf"|\s{{0,3}}[(\[]?(?<![^\W_])(?P<conjunction>{_AND})\s{{1,3}}"
    rf"|\s{{0,3}}(?P<cjk>和|或者|或|及|与|と|または|및|또는)\s{{0,3}}|(?P<space>\s{{1,4}}|(?=\()))"
    rf"{_FILLER}[(\[]{{0,2}}{_LETTER}",
    re.IGNORECASE,
)
ENDS = re.compile(
    rf"[)\]]{{0,2}}\s{{0,3}}(?:[.,;:!?/&+|)\]、，。]|\Z|(?:{_AND})\b|和|或|及|与)", re.IGNORECASE
)
LINE_ENDS = re.compile(r"[)\]]{0,2}[.,]?[^\S\n]{0,3}(?:\n|\Z|[A-Z](?![A-Za-z]))")
ORS = frozenset({"or", "oder", "ou", "o", "of", "или", "and/or", "或", "或者", "または", "또는"})
VERB = re.compile(
    r"[)\]]{0,2}\s{1,3}(?:is|are|was|were|can|cannot|can't|do|does|don't|doesn't|have|has|fail|fails|"
    r"seem|seems|would|isn't|aren't)\b(?!.{0,20}\b(?:both|correct|right|possible|true|valid|work))"
)
HEDGE = re.compile(
    rf"[)\]]?[\s.,;(]{{0,4}}\b(?:or|unless|alternatively|(?:it\s|but\s)?(?:could|might|may)\s"
    rf"(?:also\s)?be)\b[^.\n]{{0,25}}?{_LETTER}(?=[\s.,;:!?)\]]|\Z)",
    re.IGNORECASE,
)
"""What takes a statement back: `A. Or B`, `A, unless it is B`."""
AFFIRMED = re.compile(
    rf"{_LETTER}[)\]]?\s(?:is|was)\s(?:clearly\s|indeed\s|therefore\s|thus\s|most\slikely\s)?"
    r"(?:the\s)?(?:(?:correct|right|best)\b|answer\b)(?!\s{0,3}\?)"
)
JOINS_BEFORE = re.compile(
    rf"(?:{_LETTER}[)\]]?\s{{0,3}}(?:[,;/&]\s{{0,3}}(?:or\s|and\s)?|(?:or|and)\s))(?:option\s|\()?\Z"
)
INLINE_LABEL = re.compile(r"(?<![A-Za-z0-9])\(?([A-Z])[):]")
FORMULA = re.compile(r"\s{0,3}(?:[=<>^≤≥≈]|[-+*/×]\s{0,3}[A-Za-z0-9]{1,2}(?![A-Za-z]))")
QUESTION = re.compile(r"[)\]]?\s?\?")
AFTER_WORD_LETTER = re.compile(
    r"[)\]]|\s{1,3}(?:because|since|as|and|or|but|which|that|with|for|due|given|is|was|are|in|when|"
    r"by|from|on|not|nor|if|instead|rather|here|above|only|und|oder|weil|et|ou|porque)\b"
    r"|\s{1,3}(?:[oyeu]\s)?[A-Z](?![A-Za-z])|\s{0,3}[^\w\s'’]|\s{0,3}\Z|\s{0,3}\n|\s{0,3}[^\x00-\x7F]"
)
"""What follows `A` and `I` where they are letters, not English words."""
NOT = re.compile(
    r"[\s:]{0,4}(?:not|neither|never|none|anything but|nicht|pas|nie)\b(?P<rest>.{0,80})", re.DOTALL
)
BUT = re.compile(r"\b(?:but|sondern|mais|sino)\s(?:rather\s|instead\s)?")
VOID = re.compile(
    r"\b(?:wrong|incorrect|if the|if|whether the|not the|isn't the|possible|first)"
    r"(?:\scorrect)?\s{1,3}\Z",
    re.IGNORECASE,
)
STATED = re.compile(
    rf"{ANSWER_MARKER}|\b(?:choice|option)\s{{0,3}}(?:is|:|=|would be)|选择|(?<!可)选(?![项择])",
    re.IGNORECASE,
)
MENTIONED = re.compile(rf"\b(?:(?i:answer)|choice|option|选项)\s{{1,3}}[(\[]?{_LETTER}")
CONCLUDED = re.compile(
    r"\b(?:so|therefore|thus|hence|pick|picking|choose|choosing|select|selecting|go with|"
    r"going with|opt for|say|must be|should be|it is|it's|leaves|leaving)\b,?",
    re.IGNORECASE,
)
LABEL = re.compile(r"[ \t*_`>-]{0,6}(?:\(([A-Za-z])\)|([A-Za-z])[).:])(?=[\s*_`]|\Z)")
LABELS = re.compile(rf"^{LABEL.pattern}", re.MULTILINE)
MARKED = re.compile(r"\*\*\(?([A-Z])[).:]?\*\*|\(([A-Z])\)")
BOX = re.compile(r"\\boxed\s{0,3}\{")
JOINS_BOXES = re.compile(
    r"(?:</answer>|[\s})\]$,;/&.]){0,12}(?:(?:or|and|或|和)[\s$(]{0,3})?", re.IGNORECASE
)
TAGGED = re.compile(r"<answer>", re.IGNORECASE)
DENIED_BEFORE = re.compile(
    r"(?:\b(?:not|never|than|eliminat\w{0,4}|rules?d? out|ruling out|exclud\w{0,4}|reject\w{0,4}|"
    r"unlike|except|neither|nor)|n['’]t(?:\s\w{1,10})?)[\s:,]{1,3}"
    r"(?:the\s)?(?:option\s|choice\s|answer\s)?[(*_]{0,3}\Z",
    re.IGNORECASE,
)
DENIED_AFTER = re.compile(
    r"[)*_.]{0,4}\s{0,3}(?:(?:is|are|was|were|seems|looks|would be)\s"
    r"(?:also\s|clearly\s|obviously\s)?(?:wrong|incorrect|false|not|too|invalid|out|"
    r"eliminated|impossible|excluded|ruled out)\b"
    r"|isn['’]t|cannot|can['’]t|does\s?n['’o]t|错|不)",
    re.IGNORECASE,
)
