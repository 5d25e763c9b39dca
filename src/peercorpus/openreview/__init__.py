"""The service: what its objects are, and the only network room of the corpus."""
