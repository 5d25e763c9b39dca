"""Register all commands with the app."""

from peercorpus.cli import (
    audit,
    benchmark,
    build,
    finetune,
    harvest,
    interventions,
    login,
    mcp,
    recipe,
    release,
    report,
    simulate,
    takedown,
    venues,
    workspace,
)
from peercorpus.cli.console import app

__all__ = [
    "app",
    "audit",
    "benchmark",
    "build",
    "finetune",
    "harvest",
    "interventions",
    "login",
    "mcp",
    "recipe",
    "release",
    "report",
    "simulate",
    "takedown",
    "venues",
    "workspace",
]
