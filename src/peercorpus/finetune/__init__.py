"""Fine-tune a LoRA adapter on a release."""
