"""PDF engines other than the default one, one module each."""
