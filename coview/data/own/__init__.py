"""Your own views, found where they lie: a folder, a table, arrays."""

from coview.data.own.find import find
from coview.data.own.found import Column, Found
from coview.data.own.load import own_data
from coview.data.own.survey import Summary, survey

__all__ = ["Column", "Found", "Summary", "find", "own_data", "survey"]
