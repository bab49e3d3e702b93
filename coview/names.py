"""Names that were nearly right."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question after a wrong name, where a known one is near; nothing elsewhere."""
    near = difflib.get_close_matches(name, list(known), n=2)
    return f" (did you mean {' or '.join(repr(one) for one in near)}?)" if near else ""
