"""The judge: a language model rates answers beside what people wrote, and is itself tested before it is believed."""
