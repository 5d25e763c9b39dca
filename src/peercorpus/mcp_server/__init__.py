"""Serve a corpus to assistants through the Model Context Protocol, read-only."""
