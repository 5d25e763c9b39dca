"""The default engine: the text layer of a PDF, put together again to the paper it was printed from."""
