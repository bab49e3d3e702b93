"""Parts of a page that answer to the pointer: curves, pairs, samples and their neighbours, confusion."""

from coview.reports.widgets.confusion import Confusion
from coview.reports.widgets.curves import Curves, Metric
from coview.reports.widgets.pairs import Pairs
from coview.reports.widgets.samples import Samples, Thumbnails
from coview.reports.widgets.script import behaviour, widget

__all__ = ["Confusion", "Curves", "Metric", "Pairs", "Samples", "Thumbnails", "behaviour", "widget"]
