"""The benchmark: acceptance, scores, review and rebuttal, as tasks of `inspect_ai`, and what beats what."""
