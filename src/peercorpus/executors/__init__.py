"""How a heavy stage is spread: over the processes of this machine."""
