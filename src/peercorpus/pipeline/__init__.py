"""Run the stages in order; report present and missing data and finished stages."""
