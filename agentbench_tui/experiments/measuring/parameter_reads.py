"""Parameters that record which of them are read, to detect unused ones.

Only until the first call is done: reading costs one more Python call than a plain mapping, which
therefore affects at most the first measured time without warm-up.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from contextlib import contextmanager
from typing import Any

GIVEN = "_given"
"""Attribute of an experiment: its `params` from the first access on."""


class RecordedReads(dict[str, Any]):
    """A mapping that records which values were read.

    Passing it as a whole reads all of it; only code not written in Python can do so undetected.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.names = frozenset(values)
        self.unread = set(values)
        self.in_hand = False
        """Whether code had the mapping and may have used it undetected."""

    def __getitem__(self, key: str) -> Any:
        self.unread.discard(key)
        return super().__getitem__(key)

    def __iter__(self) -> Iterator[str]:
        # Being overridden makes `dict(it)` and `**it` ask for each value.
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        self.unread.discard(key)
        return super().get(key, default)

    def pop(self, key: str, *default: Any) -> Any:
        self.unread.discard(key)
        return super().pop(key, *default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        self.unread.discard(key)
        return super().setdefault(key, default)

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]  # a dict's own view
        self.unread.clear()
        return super().items()

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        self.unread.clear()
        return super().values()

    def copy(self) -> dict[str, Any]:
        self.unread.clear()
        return dict.copy(self)

    def __or__(self, other: Any) -> Any:
        self.unread.clear()
        return super().__or__(other)

    def __ror__(self, other: Any) -> Any:
        self.unread.clear()
        return super().__ror__(other)

    def __eq__(self, other: object) -> bool:
        self.unread.clear()
        return super().__eq__(other)

    __hash__ = None  # as of any dict

    def __repr__(self) -> str:
        self.unread.clear()
        return super().__repr__()


def asked_for(experiment: object) -> dict[str, Any]:
    """Return the parameters without recording a read."""
    own = vars(experiment)
    given: Mapping[str, Any] = own.get("params", own.get(GIVEN, {}))
    return dict(dict.items(given) if isinstance(given, dict) else given.items())


def after_constructor(experiment: object, *, by_name: bool, is_lazy: bool) -> None:
    """Record what is known about reads after the class's own constructor has run; `by_name` says
    whether it has parameters as arguments, `is_lazy` whether `params` is created at the first
    access. A constructor that has stored only `params` cannot have used their values yet.
    """
    own = vars(experiment)
    given = own.get(GIVEN)
    if not isinstance(given, RecordedReads) or own.get("params", given) is not given:
        return
    has_kept = any(
        value is not None for name, value in own.items() if name not in {"params", GIVEN}
    )
    if has_kept or not is_lazy:
        given.in_hand = True
        return
    own.pop("params", None)
    if by_name:
        own[GIVEN] = RecordedReads(dict(dict.items(given)))


def unread(experiment: object) -> tuple[str, ...]:
    """Return the given parameters that were never read.

    None if unknown: it took them by named arguments, replaced the mapping, or had the mapping and
    read nothing by name.
    """
    own = vars(experiment)
    given = own.get(GIVEN)
    if not isinstance(given, RecordedReads) or own.get("params", given) is not given:
        return ()
    in_hand = given.in_hand or "params" in own
    if in_hand and given.unread == given.names:
        return ()
    return tuple(sorted(given.unread))


@contextmanager
def unnoted(experiment: object) -> Iterator[None]:
    """Do not count reads within this context."""
    own = vars(experiment)
    given, had = own.get(GIVEN), "params" in own
    before = set(given.unread) if isinstance(given, RecordedReads) else set()
    try:
        yield
    finally:
        if isinstance(given, RecordedReads):
            given.unread = before
            if not had and own.get("params") is given:
                del own["params"]


def settle(experiment: object) -> None:
    """Replace the parameters by a plain mapping, which costs nothing to read."""
    own = vars(experiment)
    if isinstance(own.get("params", own.get(GIVEN)), RecordedReads):
        own["params"] = asked_for(experiment)
