"""How much do the views share: bounds and closed forms."""

from coview.information.bounds import infonce_bound
from coview.information.gaussian import gaussian_information

__all__ = ["gaussian_information", "infonce_bound"]
