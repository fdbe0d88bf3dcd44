"""Patterns for stating, listing, denying and concluding a choice, used by `picked`.

Every repeat is bounded, so that a search takes time linear in the text's length.
"""

from __future__ import annotations

import re

from agentbench_tui.scoring.text.markers import ANSWER_MARKER, WORDS_WITH_SPACES

_LETTER = r"(?<![A-Za-zÀ-ɏ0-9])(?P<letter>[A-Za-z])(?![A-Za-zÀ-ɏ0-9]|['’-][A-Za-z]|\+\+|#)"
_AND = r"and|or|and/or|und|oder|et|ou|y|o|e|en|of|и|или|as well as|plus|together with|along with"
_FILLER = (
    r"(?:(?:the|my|either|both|between|most likely|likely|probably|possibly|maybe|perhaps|clearly|"
    r"definitely|indeed|actually|thus|la|also|else|even|therefore|option|options|choice|choices|letter|answer|"
    r"(?:a\s)?letra|lettera|lettre|"
    r"correct|statement|opción|opcion|choix|variante|选项)[\s:(\[]{1,4}){0,5}"
)
FIRST = re.compile(
    rf"[\s(\[:：=>→➡⇒•✅✔☑👉–—-]{{0,12}}{_FILLER}(?:选项)?[(\[<'‘]{{0,2}}\s?{_LETTER}",
    re.IGNORECASE,
)
NEXT = re.compile(
    rf"[)\]]{{0,2}}(?:\s{{0,3}}(?P<mark>[,;/&+|、，∨∧∪∩])\s{{0,3}}(?:(?P<word>{_AND})\s{{1,3}})?"
    rf"|\s{{0,3}}[(\[]?(?<![^\W_])(?P<conjunction>{_AND})\s{{1,3}}"
    rf"|\s{{0,3}}(?P<cjk>和|跟|或者|或|及|与|與|还是|還是|と|か|または|もしくは|및|또는)\s{{0,3}}|(?P<space>\s{{1,4}}|(?=\()))"
    rf"{_FILLER}[(\[]{{0,2}}{_LETTER}",
    re.IGNORECASE,
)
ENDS = re.compile(
    rf"[)\]]{{0,2}}\s{{0,3}}(?:[.,;:!?/&+|)\]、，。∨∧∪∩]|\Z|(?:{_AND})\b|和|或|及|与)",
    re.IGNORECASE,
)
CLAUSE_ENDS = re.compile(r"[)\].,:;!?/|，。；：！？、]|\s{0,40}(?:\Z|\n)")
LINE_ENDS = re.compile(r"[)\]]{0,2}[.,]?[^\S\n]{0,3}(?:\n|\Z|[A-Z](?![A-Za-z]))")
ORS = frozenset(
    "or oder ou o of или and/or 或 或者 还是 還是 か または もしくは 또는".split(" ")  # noqa: SIM905
)
VERB = re.compile(
    r"[)\]]{0,2}\s{1,3}(?:is|are|was|were|can|cannot|can't|do|does|don't|doesn't|have|has|fail|fails|"
    r"seem|seems|would|isn't|aren't)\b(?!.{0,20}\b(?:both|correct|right|possible|true|valid|work))"
)
HEDGE = re.compile(
    rf"[)\]]?[\s.,;，。；、(]{{0,4}}(?:\b(?:or|unless|alternatively|(?:it\s|but\s)?"
    rf"(?:could|might|may)\s(?:also\s)?be)\b|也可能|也许|也許|或许|或許|或者|还是|還是|もしくは)"
    rf"[^.。\n]{{0,25}}?{_LETTER}(?=[\s.,;:!?)\]，。；：！？]|\Z)",
    re.IGNORECASE,
)
"""Words that withdraw a statement: `A. Or B`, `A, unless it is B`."""
AFFIRMED = re.compile(
    rf"{_LETTER}[)\]]?\s(?:is|was)\s(?:clearly\s|indeed\s|therefore\s|thus\s|most\slikely\s)?"
    r"(?:the\s)?(?:(?:correct|right|best)\b|answer\b)(?!\s{0,3}\?)"
)
AFFIRMED_IN_CHINESE_JAPANESE_KOREAN = re.compile(
    rf"{_LETTER}[)\]]?\s?(?:选项|選項|项|項)?的?(?:说法|說法|描述)?(?:是|为|為|は|が|이|가)?\s?(?:最|唯一)?"
    r"(?:正确|正確|对的|對的|正解|答案|答え|正しい|정답|맞)(?!性|[^\n。.]{0,4}(?:吗|嗎|か|[?？])"
    r"|とは|では|じゃ|이?\s?아니)"
)
OR_BEFORE = re.compile(
    rf"{_LETTER}\)?(?:\s?(?:或者?|还是|還是)|\s{{1,3}}(?:or|oder|или)\s)\s?"
    rf"(?:(?:option|choice|{WORDS_WITH_SPACES})\s|选项|選項)?\(?\Z",
    re.IGNORECASE,
)
"""Text before the second of two choices: `选A还是选B`, `option A or option B`."""
JOINS_BEFORE = re.compile(
    rf"(?:{_LETTER}[)\]]?\s{{0,3}}(?:[,;/&、]\s{{0,3}}(?:or\s|and\s)?|(?:or|and)\s"
    r"|(?:和|跟|及|与|與|或者?|还是|還是|と|か|または|및|또는)\s?))(?:option\s|选项|選項)?\(?\Z"
)
NAMED_BEFORE = re.compile(r"\b(?:option|choice|answer)\s{1,3}[(\[]?\Z", re.IGNORECASE)
"""Text that marks a lower-case letter as a choice."""
INLINE_LABEL = re.compile(r"(?<![A-Za-z0-9])\(?([A-Z])[):]")
FORMULA = re.compile(r"\s{0,3}(?:[=<>^≤≥≈]|[-+*/×]\s{0,3}[A-Za-z0-9]{1,2}(?![A-Za-z]))")
QUESTION = re.compile(r"[)\]]?\s?(?:(?:对|對)?(?:吗|嗎)|呢|です?か|입니까)?\s?[?？]")
AFTER_WORD_LETTER = re.compile(
    r"[)\]]|\s{1,3}(?:because|since|as|and|or|but|which|that|with|for|due|given|is|was|are|in|when|"
    r"by|from|on|not|nor|if|instead|rather|here|above|only|und|oder|weil|et|ou|porque)\b"
    r"|\s{1,3}(?:[oyeu]\s)?[A-Z](?![A-Za-z])|\s{0,3}[^\w\s'’]|\s{0,3}\Z|\s{0,3}\n|\s{0,3}[^\x00-\x7F]"
)
"""Text after `A` and `I` if they are letters, not English words."""
NOT = re.compile(
    r"[\s:]{0,4}(?:not|neither|never|none|anything but|nicht|pas|nie)\b(?P<rest>.{0,80})", re.DOTALL
)
BUT = re.compile(r"\b(?:but|sondern|mais|sino)\s(?:rather\s|instead\s)?")
VOID = re.compile(
    r"\b(?:wrong|incorrect|if the|if|whether the|not the|isn't the|possible|first)"
    r"(?:\scorrect)?\s{1,3}\Z"
    r"|(?:如果|若|假如|假设|假設|是否|もし|错误的?|錯誤的?|不正确的?|不正確的?)(?:正确|正確)?的?\s?\Z"
    r"|(?:不|未|勿|(?<!\w)[别別])(?:应该|應該|能|该|該|可以|可能|应|應|可|要|会|會|是)?\s?\Z",
    re.IGNORECASE,
)
STATED = re.compile(
    rf"{ANSWER_MARKER}|\b(?:choice|option)['’]?\s{{0,3}}(?:is|:|=|would be)"
    r"|\b(?:solution|result|selection|selected)\s{0,3}[:=]"
    r"(?=\s{0,3}[(\[]?[A-Z][)\]]?\.?[^\S\n]{0,9}(?:\n|\Z))"
    rf"|(?:答案|正解|正答|解答|答え|정답|답안)[)*_]{{0,3}}\s?[:：]?(?=\s?\(?[A-Z](?![A-Za-z]))"
    r"|选择|選擇|(?<!可)[选選](?![项項择擇])",
    re.IGNORECASE,
)
MENTIONED = re.compile(
    rf"(?:\b(?:(?i:{WORDS_WITH_SPACES})|choice|option|вариант)\s{{1,3}}(?:[—–]\s)?|选项\s?|選項\s?)"
    rf"[(\[]?{_LETTER}"
)
CONCLUDED = re.compile(
    r"\b(?:so|therefore|thus|hence|pick|picking|choose|choosing|select|selecting|go with|"
    r"going with|opt for|say|must be|should be|it is|it's|leaves|leaving|"
    r"(?P<opinion>(?:think|believe|guess|suspect|reckon|figure)(?:\sthat)?))\b,?",
    re.IGNORECASE,
)
_BETWEEN_WORDS = r"\b[\s,.:;!…—–-]{1,4}"
_HESITATION = r"(?:oh|hm{2,9}|well|but|and|yes)"
_RECONSIDERED = (
    r"(?!no\s{1,3}\(?[A-Z]\b)(?:no|wait|hold on|hang on|actually|sorry|oops|apologies|correction|"
    r"my mistake|my bad|scratch that|strike that|on second thoughts?|on reflection|in fact|"
    r"(?:or\s)?rather|i meant?|come to think of it|"
    r"(?:that|this|it)(?:['’]s|\sis|\swas)\s(?:wrong|incorrect|not\s(?:right|correct)|a\smistake)|"
    r"let me (?:re-?consider|re-?check|re-?think|think again|correct (?:that|this|myself)))"
)
AFTERTHOUGHT = re.compile(
    r"(?:[.!?,;:—–(\n…-]\s{0,4}|\s(?=or\srather|no,?\swait|wait,|wait\sno))"
    rf"(?:{_HESITATION}{_BETWEEN_WORDS}){{0,2}}"
    rf"(?:{_RECONSIDERED}{_BETWEEN_WORDS}(?:{_HESITATION}{_BETWEEN_WORDS})?){{1,4}}"
    r"(?P<link>(?:so\s)?(?:(?:it|this|that|the (?:correct |right )?(?:answer|choice|option))"
    r"(?:['’]s|\s(?:is|was|should be|must be|would be|has to be))\s"
    r"|(?:i\s)?(?:meant?|pick|choose|say|go with|make (?:that|it))\s|(?:should|must) be\s))?",
    re.IGNORECASE,
)
"""Words that replace an earlier choice: `Actually, it's B`, `no wait, C`, `or rather C`."""
REASONED = re.compile(r"[)\]]?,?\s{1,3}(?:because|since|due to)\b", re.IGNORECASE)
"""Words after a choice at the beginning of the text: `B because …`."""
SENTENCE_ENDS = re.compile(r"[)\]]?(?:[.!](?!\d)|。|[^\S\n]{0,9}(?:\n|\Z))|[)\]](?=[,;\s])")
CLAIMED = re.compile(
    r"[)\]]?\s{1,3}(?:because|since|as|instead|(?:is|was)\s(?:the\s)?(?:most\slikely\s)?(?:correct|right|"
    r"best|answer|better|most))\b",
    re.IGNORECASE,
)
"""Continuation of the clause after a choice in an afterthought or an opinion."""
CHOSEN = re.compile(r"pick|choos|select|go(?:ing)? with|opt for", re.IGNORECASE)
"""Conclusions that only a choice follows, so that it may be a small letter."""
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
    r"(?:(?:choose|pick|select|say|opt\sfor|go\swith)\s)?"
    r"(?:the\s)?(?:option\s|choice\s|answer\s)?[(*_]{0,3}\Z"
    r"|(?:\b(?:nicht|keine?|pas|не|niet|geen))\s{1,3}"
    rf"(?:(?:die|der|das|la|le|el|il|a|o|de|het)\s)?(?:(?:{WORDS_WITH_SPACES})\s)?[(*_]{{0,3}}\Z"
    r"|(?:(?:不|未|勿|(?<!\w)[别別])(?:应该|應該|能|该|該|可以|可能|应|應|可|要|会|會)?(?:是|为|為|选择|選擇|选|選)?"
    r"|(?:并|並)?非|(?:排除|除)(?:了|掉|去)?|错误的?(?:是|为)?|錯誤的?(?:是|為)?)\s?(?:选项|選項|答案)?"
    r"(?:[(*_]{0,3}[A-Z][)*_]{0,3}\s?[、和跟及与與或]\s?(?:选项|選項)?){0,6}[(*_]{0,3}\Z",
    re.IGNORECASE,
)
DENIED_AFTER = re.compile(
    r"[)*_.]{0,4}\s{0,3}(?:(?:is|are|was|were|seems|looks|would be)\s"
    r"(?:also\s|clearly\s|obviously\s)?(?:wrong|incorrect|false|not|too|invalid|out|"
    r"eliminated|impossible|excluded|ruled out)\b"
    r"|isn['’]t|cannot|can['’]t|does\s?n['’o]t|是?错|是?錯|是?不(?!是\s?\(?[A-Z](?![A-Za-z]))|并不|並不"
    r"|(?:选项|選項|項|は|が)?(?:では|じゃ)(?:な|あり)|[이가은는]?\s?(?:아니|아닙|틀)|は(?:間違|誤)"
    r")|[)*_]{0,4}\s(?:(?:ist|sind|war|est|es|è|é|está|is|jest|är|er)\s)?(?:auch\s|aussi\s|también\s)?"
    r"(?:falsch|nicht|inkorrekt|fausse|faux|pas|incorrect\w{0,4}|falsa|sbagliat\w|errat?d?[ao]|fout|"
    r"onjuist|niet|błędn\w|nieprawidłow\w|yanlış|fel|неверн\w{0,3}|неправильн\w{0,3}|ошибочн\w{0,3}|"
    r"не)\b(?!\s\(?[A-Z]\b)",
    re.IGNORECASE,
)
