"""Finds which of several lettered choices a text picks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentbench_tui.scoring.choices.choice_letters import in_latin
from agentbench_tui.scoring.choices.choice_patterns import (
    AFFIRMED,
    AFFIRMED_IN_CHINESE_JAPANESE_KOREAN,
    AFTER_WORD_LETTER,
    AFTERTHOUGHT,
    BOX,
    BUT,
    CHOSEN,
    CLAIMED,
    CLAUSE_ENDS,
    CONCLUDED,
    DENIED_AFTER,
    DENIED_BEFORE,
    ENDS,
    FIRST,
    FORMULA,
    HEDGE,
    INLINE_LABEL,
    JOINS_BEFORE,
    JOINS_BOXES,
    LABEL,
    LABELS,
    LINE_ENDS,
    MARKED,
    MENTIONED,
    NAMED_BEFORE,
    NEXT,
    NOT,
    OR_BEFORE,
    ORS,
    QUESTION,
    REASONED,
    SENTENCE_ENDS,
    STATED,
    TAGGED,
    VERB,
    VOID,
)
from agentbench_tui.scoring.numbers.latex import plain_text
from agentbench_tui.scoring.text.normal import normalizer

SEVERAL = "several"
"""The text picks more than one choice."""

text_form = normalizer()
"""Brings the text of a choice to the form in which texts are compared."""

_MARKUP = str.maketrans("", "", '*`_"“”„«»{}')
_MAX_STATEMENT = 300
_MAX_MARKERS = 50


@dataclass(frozen=True, slots=True)
class _Pick:
    choice: str
    """A letter, or SEVERAL."""
    end: int
    """Position after it."""


def find_choice(text: str, letters: str, texts: list[str]) -> str | None:
    """Return the letter that a text picks, SEVERAL if it picks more than one, or None.

    The first of these that decides: the last box or `<answer>` that holds a choice; the last
    statement such as "the answer is B"; a last line that is a letter; a text that begins with `B.`
    or `(B)`; a conclusion such as "so I pick B"; `option B`; letters in bold or parentheses; the
    text of a choice.
    """
    plain = in_latin(plain_text(text))
    body = plain.translate(_MARKUP)
    reader = _Reader(body, letters, texts)
    return (
        _boxed(plain, letters, texts)
        or reader.stated()
        or reader.last_line()
        or reader.leading()
        or reader.affirmed()
        or reader.concluded()
        or reader.mentioned()
        or _marked(plain, letters)
        or _by_text(text, letters, texts)
    )


class _Reader:
    def __init__(self, text: str, letters: str, texts: list[str]) -> None:
        self._text = text
        self._letters = letters
        self._texts = texts

    def stated(self) -> str | None:
        """Return the choice of the last statement or afterthought that has one."""
        markers = _last_matches(STATED, self._text) + _last_matches(AFTERTHOUGHT, self._text)
        for marker in sorted(markers, key=re.Match.end, reverse=True):
            if marker.re is AFTERTHOUGHT:
                if (choice := self._afterthought(marker)) is not None:
                    return choice
                continue
            before = self._text[max(0, marker.start() - 30) : marker.start()]
            if VOID.search(before):
                continue
            pick = self._pick_after(marker.end())
            if pick is not None and DENIED_AFTER.match(self._text, pick.end):
                continue
            if pick is not None and OR_BEFORE.search(before):
                return SEVERAL
            if pick is not None:
                return pick.choice
            if (choice := self._stated_text(marker.end())) is not None:
                return choice
        return None

    def concluded(self) -> str | None:
        """Return the choice of the last conclusion in words that has one."""
        for marker in _last_matches(CONCLUDED, self._text):
            if DENIED_BEFORE.search(self._text[max(0, marker.start() - 30) : marker.start()] + " "):
                continue
            pick = self.pick(marker.end(), capital=CHOSEN.search(marker[0]) is None)
            if pick is None or self._text[pick.end - 1] in "ai":  # English words
                continue
            if marker["opinion"] and not self._is_claimed(pick):
                continue
            if not DENIED_AFTER.match(self._text, pick.end):
                return pick.choice
        return None

    def affirmed(self) -> str | None:
        """Return the choice of "C is correct"; SEVERAL if others are called correct too."""
        choices: set[str] = set()
        matches = _last_matches(AFFIRMED, self._text)
        for match in matches + _last_matches(AFFIRMED_IN_CHINESE_JAPANESE_KOREAN, self._text):
            letter = match["letter"]
            before = self._text[max(0, match.start() - 40) : match.start()]
            if NAMED_BEFORE.search(before):
                letter = letter.upper()
            if letter not in self._letters or DENIED_BEFORE.search(before) or VOID.search(before):
                continue
            choices.add(SEVERAL if JOINS_BEFORE.search(before) else letter)
        return SEVERAL if len(choices) > 1 else next(iter(choices), None)

    def last_line(self) -> str | None:
        """Return the only choice of the last line; SEVERAL if other lines contain others."""
        lines = [line.strip() for line in self._text.strip()[-2_000:].split("\n")]
        picks = [pick for line in lines if len(line) < 80 and (pick := self._whole(line))]
        if not picks or self._whole(lines[-1]) is None:
            return None
        return picks[0] if len(set(picks)) == 1 else SEVERAL

    def leading(self) -> str | None:
        """Return the choice that the text begins with, unless it goes through the choices."""
        start = len(self._text) - len(self._text.lstrip())
        label = LABEL.match(self._text, start)
        if (reasoned := self.pick(start)) and REASONED.match(self._text, reasoned.end):
            return reasoned.choice
        letter = self._letter_of(label)
        if label is None or letter is None or DENIED_AFTER.match(self._text, label.end()):
            return None
        labels = {self._letter_of(match) for match in LABELS.finditer(self._text)} - {None}
        line = self._text[start : start + _MAX_STATEMENT].partition("\n")[0]
        labels |= {
            match[1]
            for match in INLINE_LABEL.finditer(line)
            if match[1] in self._letters and not _is_denied(line, match.start(), match.end())
        }
        if len(labels) > 1:
            return self.pick_several(start)
        pick = self.pick(start)
        return letter if pick is None else pick.choice

    def mentioned(self) -> str | None:
        """Return the only choice that is named with the word option, choice or answer."""
        choices: set[str] = set()
        for match in MENTIONED.finditer(self._text):
            start = match.start("letter")
            pick = self.pick(start, named=True)
            if pick is None or pick.choice in choices:
                continue
            if _is_denied(self._text, start, match.end()):
                continue
            alternative = OR_BEFORE.search(self._text[max(0, start - 40) : start])
            choices.add(SEVERAL if alternative else pick.choice)
        return choices.pop() if len(choices) == 1 else None

    def pick_several(self, start: int) -> str | None:
        """Return SEVERAL if a position has a list of choices, else None."""
        pick = self.pick(start)
        return SEVERAL if pick is not None and pick.choice == SEVERAL else None

    def pick(self, start: int, *, capital: bool = False, named: bool = False) -> _Pick | None:
        """Return the choice or list of choices at a position.

        A small letter must end a clause, unless it is `named` as an option and no English word.
        """
        first = FIRST.match(self._text, start)
        if first is None:
            return None
        letter, end = first["letter"], first.end()
        if letter.upper() not in self._letters or (capital and letter.islower()):
            return None
        is_name = named and letter not in "ai"
        if letter.islower() and not is_name and not CLAUSE_ENDS.match(self._text, end):
            lists = named and self._lists_more(letter, end)
            return _Pick(SEVERAL, end) if lists else None
        if not self._is_choice(letter, end) or QUESTION.match(self._text, end):
            return None
        if self._lists_more(letter, end):
            return _Pick(SEVERAL, end)
        return None if FORMULA.match(self._text, end) else _Pick(letter.upper(), end)

    def _pick_after(self, start: int) -> _Pick | None:
        denied = NOT.match(self._text, start)
        if denied is None:
            return self.pick(start)
        contrast = BUT.search(denied["rest"])
        return self.pick(denied.start("rest") + contrast.end()) if contrast else None

    def _afterthought(self, marker: re.Match[str]) -> str | None:
        """Return the choice that an afterthought gives instead of an earlier one."""
        pick = self.pick(marker.end(), capital=True)
        if pick is not None:
            # After `Actually, B,` a remark on B may follow, but not after `Actually, it's B,`.
            ends = CLAUSE_ENDS if marker["link"] else SENTENCE_ENDS
            return pick.choice if self._is_claimed(pick, ends) else None
        return self._stated_text(marker.end()) if marker["link"] else None

    def _is_claimed(self, pick: _Pick, ends: re.Pattern[str] = CLAUSE_ENDS) -> bool:
        """Return whether a choice ends its clause or is called right, and is not denied."""
        if DENIED_AFTER.match(self._text, pick.end):
            return False
        if pick.choice == SEVERAL or ends.match(self._text, pick.end):
            return True
        if CLAIMED.match(self._text, pick.end):
            return True
        letter = self._text[pick.end - 1]
        return self._after_text(letter, pick.end) != pick.end

    def _is_choice(self, letter: str, end: int) -> bool:
        """Return whether the letter is a choice rather than the English word A or I."""
        if letter not in "AI" or AFTER_WORD_LETTER.match(self._text, end):
            return True
        choice = self._text_of(letter)
        return bool(choice) and f"{text_form(self._text[end : end + 200])} ".startswith(
            f"{choice} "
        )

    def _text_of(self, letter: str) -> str:
        index = self._letters.index(letter.upper())
        return text_form(self._texts[index]) if index < len(self._texts) else ""

    def _lists_more(self, letter: str, end: int) -> bool:
        """Return whether another letter follows: `A or B`, `A, B`, `A) London and B) Paris`."""
        others, has_or = set(), False
        end = self._after_text(letter, end)
        for _ in range(len(self._letters) + 1):
            following = NEXT.match(self._text, end)
            if following is None or not self._is_member(following, letter):
                break
            word = following["conjunction"] or following["word"] or following["cjk"] or ""
            has_or = has_or or word.lower() in ORS
            others.add(following["letter"].upper())
            end = self._after_text(following["letter"], following.end())
        if not has_or and VERB.match(self._text, end):
            others.clear()  # `B, A and C are wrong`
        hedge = None if letter.islower() else HEDGE.match(self._text, end)
        if hedge is not None and hedge["letter"] in self._letters:
            others.add(hedge["letter"])
        return bool(others - {letter.upper()})

    def _is_member(self, following: re.Match[str], first: str) -> bool:
        letter, end = following["letter"], following.end()
        if letter.upper() not in self._letters or letter.islower() != first.islower():
            return False
        word = following["conjunction"] or following["word"] or following["cjk"] or ""
        if following["space"]:
            return LINE_ENDS.match(self._text, end) is not None
        if word.lower() in ORS:
            return not letter.islower() or ENDS.match(self._text, end) is not None
        if ENDS.match(self._text, end) or VERB.match(self._text, end):
            return True
        after = self._after_text(letter, end)
        return after != end

    def _after_text(self, letter: str, end: int) -> int:
        """Return the position after `) London`, the text of a choice; `end` without one."""
        index = self._letters.find(letter.upper())
        if not 0 <= index < len(self._texts) or not (choice := self._texts[index].strip()):
            return end
        start = re.compile(r"[)\].:]{0,2}\s{0,3}").match(self._text, end)
        position = start.end() if start else end
        written = self._text[position : position + len(choice)]
        return position + len(choice) if written.casefold() == choice.casefold() else end

    def _stated_text(self, start: int) -> str | None:
        """Return the choice whose text a statement gives instead of its letter."""
        statement = self._text[start : start + _MAX_STATEMENT].lstrip()
        statement = re.split(r"\n|[.!?]\s", statement, maxsplit=1)[0]
        if not statement.strip() or NOT.match(f" {statement}"):
            return None
        return _by_text(statement, self._letters, self._texts)

    def _whole(self, line: str) -> str | None:
        """Return the choice of a text that contains only a choice."""
        reader = _Reader(line, self._letters, self._texts)
        pick = reader.pick(0)
        if pick is None:
            return None
        if pick.choice == SEVERAL:
            return SEVERAL if len(line) < 40 else None
        return pick.choice if not line[pick.end :].strip(" )].,:!*✓✔✅☑") else None

    def _letter_of(self, match: re.Match[str] | None) -> str | None:
        if match is None:
            return None
        letter = next(group for group in match.groups() if group).upper()
        return letter if letter in self._letters else None


def _boxed(plain: str, letters: str, texts: list[str]) -> str | None:
    """Return the choice of the last box, or else `<answer>`, that contains one."""
    for pattern in (BOX, TAGGED):
        later: tuple[str, int] | None = None
        for match in _last_matches(pattern, plain):
            content = _content(plain, match.end(), is_box=pattern is BOX)
            choice = _choice_in(content, letters, texts)
            if later is not None:
                between = plain[match.end() + len(content) : later[1]]
                joined = len(between) < 40 and JOINS_BOXES.fullmatch(between)
                return SEVERAL if joined and choice not in {None, later[0]} else later[0]
            if choice is not None:
                later = choice, match.start()
        if later is not None:
            return later[0]
    return None


def _choice_in(content: str, letters: str, texts: list[str]) -> str | None:
    """Return the choice in a box: a letter, perhaps with its text, or a text."""
    content = content.translate(_MARKUP).replace("\\boxed", " ").strip()
    reader = _Reader(content, letters, texts)
    pick = reader.pick(0)
    if pick and (pick.choice == SEVERAL or content[pick.end :][:1] in {"", *")].:, \n"}):
        return pick.choice
    return (reader.stated() or _by_text(content, letters, texts)) if content else None


def _content(text: str, start: int, *, is_box: bool) -> str:
    region = text[start : start + _MAX_STATEMENT]
    if not is_box:
        return region.partition("<")[0]
    depth = 1
    for brace in re.finditer(r"[{}]", region):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return region[: brace.start()]
    return region.partition("\n")[0]


def _last_matches(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    return list(pattern.finditer(text))[: -_MAX_MARKERS - 1 : -1]


def _is_denied(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 40) : start]
    return bool(DENIED_BEFORE.search(before) or DENIED_AFTER.match(text, end))


def _marked(plain: str, letters: str) -> str | None:
    """Return the only letter in bold or in parentheses that is not denied."""
    choices: set[str] = set()
    for match in MARKED.finditer(plain):
        letter = match[1] or match[2]
        if letter not in letters or letter in choices:
            continue
        if not _is_denied(plain, match.start(), match.end()):
            choices.add(letter)
    return SEVERAL if len(choices) > 1 else next(iter(choices), None)


def _by_text(text: str, letters: str, texts: list[str]) -> str | None:
    said = f" {text_form(text)} "
    forms = {
        letter: form
        for letter, choice in zip(letters, texts, strict=False)
        if (form := text_form(choice)) and f" {form} " in said.replace(f" not {form} ", " ")
    }
    # "New York" within "New York City": the longer one is meant.
    longest = [
        letter
        for letter, form in forms.items()
        if not any(form != other and f" {form} " in f" {other} " for other in forms.values())
    ]
    return longest[0] if len(longest) == 1 else None
