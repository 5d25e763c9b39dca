"""Run work: the definition of a stage, executors on this machine and on a Ray cluster, progress, code version."""
