"""Contrastive multiview coding: learn representations by contrasting any number of views of the same thing."""

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`coview.MultiViewEncoder` is there for those who have scikit-learn, and nobody else waits for it."""
    if name in ("MultiViewEncoder", "side_by_side"):
        import coview.estimator

        return getattr(coview.estimator, name)
    raise AttributeError(f"module 'coview' has no attribute '{name}'")
