"""Search and read a corpus in a browser, from a server on this machine."""
