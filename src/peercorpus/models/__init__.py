"""A language model behind an OpenAI-compatible endpoint: how it is asked, what may be spent, and what it answered."""
