"""Measure models as in the Re² paper (arXiv 2505.07920), and show its printed numbers beside ours."""
