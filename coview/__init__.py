"""Contrastive multiview coding: learn representations by contrasting any number of views of the same thing."""

__version__ = "0.1.0"
