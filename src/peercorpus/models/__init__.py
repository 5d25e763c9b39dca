"""Language models: prompts, chat messages and templates, token counts, endpoints, checkpoints, local models."""
