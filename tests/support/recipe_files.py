"""Recipes of fine-tuning as files."""

import json
from pathlib import Path


def write_recipe(folder: Path, **settings: object) -> Path:
    """A recipe with some settings."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "recipe.toml"
    path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()))
    return path
