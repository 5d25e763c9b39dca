"""Benchmark models on a release: five tasks for inspect_ai, baselines, an LLM judge and leaderboards."""
