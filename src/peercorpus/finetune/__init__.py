"""Fine-tuning product: a LoRA adapter trained on a release."""
