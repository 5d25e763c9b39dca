"""Fine-tuning: a LoRA adapter learnt from the papers to train on, told in the words that the benchmark asks in."""
