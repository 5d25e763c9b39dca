"""Register all commands with the app."""

from peercorpus.cli import (
    audit,
    benchmark,
    benchmark_re2,
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
    "benchmark_re2",
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
