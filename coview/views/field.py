"""A field as it is: the view for what a sensor or a table gives ready to use."""

from torch import Tensor

from coview.types import Fields


def field(fields: Fields, *, name: str) -> Tensor:
    """What the dataset stores under this name, as `partial(field, name="thermal")` in a recipe."""
    if name not in fields:
        raise ValueError(f"the dataset has no field '{name}': it stores {', '.join(fields)}")
    return fields[name]
