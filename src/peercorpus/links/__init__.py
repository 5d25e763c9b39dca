"""Stages that compare two versions of a paper and link submissions of the same work."""
