"""Rebuttal threads as multi-turn conversations: posts → turns, one conversation per reviewer of a paper."""
