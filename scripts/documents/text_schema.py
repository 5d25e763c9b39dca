"""Read field descriptions from docstrings, and make the JSON Schema of the files `convert` writes beside texts."""

import ast
import json
import re
from importlib import import_module
from pathlib import Path

import msgspec

SHARED = {
    "forum_id": "The submission: the id of the note at the root of its forum.",
    "venue_id": "The venue's group on OpenReview (`ICLR.cc/2024/Conference`); the tables are partitioned by it.",
    "post_id": "The id of its note.",
    "review_id": "The id of its note.",
    "reviewer": "The reviewer's anonymous id within that paper.",
    "created_at": "When it was created.",
    "modified_at": "When it was last modified.",
    "sha256": "The file in `files/`.",
    "title": "Verbatim.",
    "abstract": "Verbatim.",
    "text": "Verbatim.",
    "tldr": "The authors' summary in one sentence, verbatim.",
    "keywords": "Verbatim.",
    "primary_area": "Verbatim.",
    "field": "The form's own name of the field.",
    "engine": "The name of the PDF engine.",
    "engine_version": "The version of that engine.",
    "turns": "In time order.",
    "stage": "The stage it left.",
}
"""Meanings of fields in every record that does not document them itself."""

MODULES = ("records.blocks", "records.documents", "records.enums", "texts.text_json")
"""Modules with the types of that file."""


def split_docstring(node: ast.ClassDef | ast.FunctionDef) -> tuple[str, dict[str, str]]:
    """Return the general part of a docstring, and the description of each attribute there or in its annotation."""
    text, _, attributes = (ast.get_docstring(node) or "").partition("\n\nAttributes:\n")
    entries = re.split(r"^    (?=\w+: )", attributes, flags=re.MULTILINE)[1:]
    pairs = (entry.split(": ", 1) for entry in entries)
    meanings = {name: " ".join(meaning.split()) for name, meaning in pairs}
    for field in node.body:
        match field:
            case ast.AnnAssign(
                target=ast.Name(name),
                annotation=ast.Subscript(ast.Name("Annotated"), ast.Tuple([_, ast.Constant(str() as meaning), *_])),
            ):
                meanings[name] = meaning
    return text.partition("\n\n>>>")[0], meanings


def schema_page() -> str:
    """Return the JSON Schema of a text's file, with the meaning of each field."""
    modules = [import_module(f"peercorpus.{name}") for name in MODULES]
    body = [node for module in modules for node in ast.parse(Path(str(module.__file__)).read_text("utf-8")).body]
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    schema = msgspec.json.schema(modules[-1].Measures)
    for name, definition in schema["$defs"].items():
        definition["description"], meanings = split_docstring(classes[name])
        for field, described in definition.get("properties", {}).items():
            meaning = meanings.get(field) or SHARED.get(field)
            described |= {"description": meaning} if meaning else {}
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Text of a PDF"}
    return json.dumps(dialect | schema, indent=1, ensure_ascii=False) + "\n"
