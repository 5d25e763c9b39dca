"""Measure models on the terms of the Re² paper (arXiv 2505.07920), and show its printed numbers beside ours."""
