"""The method as a scikit-learn estimator: several tables of the same samples in, one table of features out."""

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError as error:
    raise ModuleNotFoundError(
        "coview.MultiViewEncoder needs scikit-learn: pip install 'coview[sklearn]'"
    ) from error

from coview.estimator.columns import side_by_side
from coview.estimator.encoder import MultiViewEncoder

__all__ = ["MultiViewEncoder", "side_by_side"]
