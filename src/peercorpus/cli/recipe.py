"""The command `recipe`: rebuild ReviewBench or Re², or print the cost of that."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from peercorpus.cli.console import OPENREVIEW, Connection, Named, OptionalWorkspace, say
from peercorpus.cli.options import HERE, require_extra
from peercorpus.errors import PeercorpusError
from peercorpus.execution.requests import Spreading

if TYPE_CHECKING:
    from peercorpus.recipes.recipe import RecipeName


def recipe(
    name: Annotated[Literal["reviewbench", "re2"], Parameter(help="The dataset.")],
    /,
    *,
    workspace: Annotated[OptionalWorkspace, Parameter(help="Folder of the workspace to fill.")] = None,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    out: Annotated[Path | None, Named] = None,
    harvest: Annotated[bool, Parameter(negative="--no-harvest")] = True,
    files: Annotated[bool, Parameter(negative="--no-files")] = True,
    spreading: Annotated[Spreading, Parameter(name="*")] = HERE,
    connection: Connection = OPENREVIEW,
) -> None:
    """Rebuild ReviewBench or Re², and compare the result with the numbers in its card or paper.

    Without --workspace, print the scope, what a harvest takes, and the commands. With it, do all of it, from the import
    to conformance.md and conformance.json. To resume an interrupted run, run the same command again.

    Parameters
    ----------
    from_
        The published files: a folder, or hf:OWNER/NAME or hf:OWNER/NAME@REVISION on the Hugging Face Hub.
    out
        Folder to write. Default: the folder 'recipe' in the workspace.
    harvest
        Harvest venues of the scope that are not in the published files.
    files
        Also fetch the PDFs of the papers that are harvested.
    """
    from peercorpus.cli import recipe_steps as recipe_texts
    from peercorpus.cli.recipe_steps import RecipeRun, estimate
    from peercorpus.execution.requests import BuildRequest
    from peercorpus.recipes.recipe import RecipeName, read_recipe
    from peercorpus.texts.engine import choose_executor

    chosen = read_recipe(RecipeName(name))
    if workspace is None:
        _refuse_options(from_, out, harvest, files, spreading)
        say(recipe_texts.planned(chosen, estimate(chosen)))
        return
    _require_extras(chosen.name, from_)
    request = BuildRequest(executor=spreading.executor, address=spreading.address, workers=spreading.workers)
    RecipeRun(
        recipe=chosen,
        workspace=workspace,
        out=workspace / "recipe" if out is None else out,
        source=from_,
        harvests=harvest,
        files=files,
        options=request,
        spread=choose_executor(request),
        connection=connection,
    ).run(say)


def _refuse_options(*given: object) -> None:
    """Raise an error if an option of `recipe` is not as it is by default, in their order.

    Those of the connection may come from the environment, so that they do not count.
    """
    if given != (None, None, True, True, HERE):
        raise PeercorpusError(
            "Without --workspace only the plan is printed, and options have no effect; add --workspace, or leave them"
            " out."
        )


def _require_extras(name: "RecipeName", source: str | None) -> None:
    """Check for the packages of every step before the first one, as a harvest takes days."""
    from peercorpus.recipes.recipe import RecipeName
    from peercorpus.workspace.hub_datasets import parse_repository

    if source is not None and parse_repository(Path(source)):
        require_extra("hf", "huggingface_hub")
    if name is RecipeName.RE2:
        require_extra("report", "matplotlib")
