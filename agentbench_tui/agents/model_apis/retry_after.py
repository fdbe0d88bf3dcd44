"""The Retry-After field (RFC 9110, section 10.2.3): seconds or an HTTP date."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from agentbench_tui.model.clock import unix_time

MAX_RETRY_AFTER_S = 600.0


def retry_after_s(value: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds to wait, within 0..600; None if the field is absent or unreadable."""
    if value is None:
        return None
    value = value.strip()
    try:
        if value[:1].isdigit():
            seconds = float(value)
        else:
            seconds = _until(value, now or datetime.fromtimestamp(unix_time(), UTC))
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_S) if seconds == seconds else None


def retry_after_words(seconds: float | None) -> str:
    """Return the addition to the detail of a failure whose server sent a Retry-After; empty
    otherwise.
    """
    return "" if seconds is None else f" (Retry-After: {seconds:.3g} s)"


def _until(value: str, now: datetime) -> float:
    moment = parsedate_to_datetime(value)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - now).total_seconds()
