"""Layouts of other datasets with papers and reviews: recognised by their structure, with one small reader each."""
