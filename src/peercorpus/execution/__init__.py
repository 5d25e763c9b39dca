"""How work is run: what a stage is, executors on this machine and on a Ray cluster, progress, code version."""
