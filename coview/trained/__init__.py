"""What is done with trained encoders: embed, search, export, and read those of others."""

from coview.trained.embed import Embedded, embed, load_embedded, save_embedded
from coview.trained.model import Model, open_model
from coview.trained.search import Hit, search

__all__ = ["Embedded", "Hit", "Model", "embed", "load_embedded", "open_model", "save_embedded", "search"]
