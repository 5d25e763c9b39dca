"""The entries for the register of inspect_evals: one per task, in the required form, each pointing to its task."""

import ast
import json
import re
from pathlib import Path

from inspect_ai._util.registry import registry_info

from peercorpus.benchmark import inspect_plugin
from peercorpus.benchmark.cases import BenchTask

ROOT = Path(__file__).parents[2]
REQUIRED = {"full_title", "common_title", "description", "contributors", "tasks", "source"}
"""Fields of `ExternalEvalMetadata` in inspect_evals 0.26.0, which refuses unknown fields."""
OPTIONAL = {"arxiv", "tags", "metadata", "title", "paper_title", "evaluation_report"}


def test_each_task_has_a_register_entry() -> None:
    entries = sorted((ROOT / "docs" / "register").glob("*/eval.yaml"))
    assert [path.parent.name for path in entries] == sorted(f"peercorpus-{task}" for task in BenchTask)
    for path in entries:
        fields = set(re.findall(r"^(\w+):", path.read_text(), re.MULTILINE))
        assert REQUIRED <= fields <= REQUIRED | OPTIONAL


def test_an_entry_leads_to_its_task() -> None:
    for path in (ROOT / "docs" / "register").glob("*/eval.yaml"):
        named = dict(
            re.findall(r'^(?:- |  )(name|task_path|repository_commit): (".*")$', path.read_text(), re.MULTILINE)
        )
        name, source = json.loads(named["name"]), ROOT / json.loads(named["task_path"])
        functions = {
            node.name: node for node in ast.parse(source.read_text()).body if isinstance(node, ast.FunctionDef)
        }
        assert "task" in map(ast.unparse, functions[name].decorator_list)
        assert registry_info(getattr(inspect_plugin, name)).name == f"peercorpus/{name}"
        assert len(json.loads(named["repository_commit"])) == 40
