"""The corpus in a browser: a local, read-only web page over the tables; search, papers, conversations, exports."""
