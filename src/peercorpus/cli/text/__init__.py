"""Every text that commands print, one module per group of commands; texts are made here and printed by `cli`."""
