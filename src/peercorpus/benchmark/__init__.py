"""Benchmark product: four tasks for inspect_ai, baselines, an LLM judge and leaderboards."""
