"""The command line: one module per group of commands, texts for the terminal in `text`; only this package prints."""
