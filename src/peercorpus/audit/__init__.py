"""Tests of a corpus, ours or not: can the dumbest reader tell the decision from a paper's text?"""
