"""Benchmark product: five tasks for inspect_ai, baselines, an LLM judge and leaderboards."""
