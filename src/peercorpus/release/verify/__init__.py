"""Check a finished release."""
