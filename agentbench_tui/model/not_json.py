"""What msgspec raises for bytes of others that are no JSON, or not the JSON that was expected."""

from __future__ import annotations

import msgspec

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Not by its grammar or type; text that is no UTF-8; nested too deeply."""
