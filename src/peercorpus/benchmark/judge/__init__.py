"""Judge written answers with a language model, and calibrate such a judge."""
