"""Words that introduce a final answer, in the languages in which agents commonly answer."""

from __future__ import annotations

WORDS_WITH_SPACES = (
    "answer|ans|antwort|lösung|réponse|reponse|respuesta|risposta|resposta|antwoord|ответ|odpowiedź|"
    "cevap|svar|đáp án|جواب|उत्तर|conclusion|correct (?:option|choice)"
)
WORDS_WITHOUT_SPACES = "答案|正解|解答|回答|答え|答|正确选项|정답|답안|답"
_QUALIFIERS = (
    "correcta|correta|corretta|to (?:this|the) (?:question|problem)|to question \\d{1,3}|here"
)
_VERBS = "is|ist|lautet|es|est|è|é|are|would be|should be|must be|seems to be|appears to be|то"
_PARTICLES = "是|为|為|は|은|는|选|選"

ANSWER_MARKER = (
    rf"(?:(?<!\bto )(?<![^\W\d_])(?:{WORDS_WITH_SPACES})|(?:{WORDS_WITHOUT_SPACES}))"
    rf"(?:\s(?:{_QUALIFIERS}))?[*_\"”'’]{{0,3}}"
    rf"(?:\s{{0,3}}[:：=][*_\"”]{{0,3}}"
    rf"|(?:,\stherefore,)?\s{{1,3}}(?:{_VERBS})(?![^\W_])(?:\s{{0,3}}[:：])?"
    rf"|['’]s\s|\s{{0,3}}(?:{_PARTICLES})(?:\s{{0,3}}[:：])?)"
)
"""A pattern for re.IGNORECASE: `answer:`, `the answer is`, `Antwort:`, `答案：` and so on."""
