"""Run the stages in order, and report what is present, missing and finished."""
