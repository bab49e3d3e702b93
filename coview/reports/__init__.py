"""Run folders and tensors become pictures, curves, diagrams, tables and one self-contained page."""
