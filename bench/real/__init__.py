"""Real input: the history of the Python Enhancement Proposals (docs/real-data.md)."""
