"""The card of exported encoders: what they take, how to load them, what they were trained on."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from coview.reports.tables import Table
from coview.trained.model import Model

if TYPE_CHECKING:
    from coview.trained.export import Written

HEAD = """\
---
library_name: coview
pipeline_tag: feature-extraction
tags:
- contrastive-learning
- multiview
- self-supervised
---

# {name}

Encoders of {count} views, trained without labels by contrasting them (*Contrastive Multiview Coding*, Tian, Krishnan
and Isola, 2020). The embeddings of one sample in any two views lie near each other: compare them by their cosine.

"""
USE = """
## Use

With this package, as plain `torch.nn.Module`s that can be trained on:

```python
from coview.encoders import load_encoders
encoders = load_encoders("{folder}")
embedding = encoders["{view}"](view)  # of a view as the encoder takes it
```

With PyTorch alone, from the fields as they are stored; the view is cut inside:

```python
import torch
encoder = torch.export.load("{folder}/{view}.pt2").module()
embedding = encoder({arguments})
```
"""
ONNX = """
With the ONNX runtime, whose numbers were within {difference:.1e} of PyTorch's when this was written:

```python
import onnxruntime
session = onnxruntime.InferenceSession("{folder}/{view}.onnx")
(embedding,) = session.run(None, {{{feeds}}})
```
"""
END = """
## Files

- `model.safetensors` the weights of all encoders, `config.json` how encoders and views are made
- `*.pt2` programs for PyTorch, `*.onnx` programs for the ONNX runtime: one a view, any batch size

To share them: `hf upload NAME/{name} {folder}`. Say under which licence, and what they were trained on, at the top of
this page.
"""


def card(model: Model, written: Sequence["Written"], results: str) -> str:
    """The page as Markdown, with the metadata that model hubs read."""
    rows = tuple(
        (one.view, ", ".join(f"{name}: {form}" for name, form in one.inputs.items()), one.size)
        for one in written
    )
    first, folder = written[0], "FOLDER"
    variables = {name: re.sub(r"\W|^(?=\d)", "_", name) for name in first.inputs}
    parts = [HEAD.format(name=model.name, count=len(written))]
    parts.append(Table("", ("view", "cut from", "embedding"), rows).markdown())
    if model.files.get("side"):
        side = model.files["side"]
        parts.append(f"\nMaps were brought to {side} x {side} pixels before anything else.\n")
    parts.append(USE.format(folder=folder, view=first.view, arguments=", ".join(variables.values())))
    differences = [one.difference for one in written if one.difference is not None]
    if differences:
        feeds = ", ".join(f'"{name}": {variable}' for name, variable in variables.items())
        parts.append(ONNX.format(difference=max(differences), folder=folder, view=first.view, feeds=feeds))
    if results:
        parts.append(f"\n## Results\n\n{results}")
    parts.append(END.format(name=re.sub(r"[^\w.-]+", "-", model.name), folder=folder))
    return "".join(parts)
