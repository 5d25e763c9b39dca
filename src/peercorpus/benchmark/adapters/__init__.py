"""Prompts and output formats of published reviewer models."""
