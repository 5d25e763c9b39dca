"""Serve a corpus to assistants by the Model Context Protocol, read-only."""
