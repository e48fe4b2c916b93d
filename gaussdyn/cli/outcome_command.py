"""``gaussdyn outcome`` and ``gaussdyn verify``: how many motions there are, and the proof, checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .app import (
    Json,
    MuSRule,
    Panel,
    Rule,
    app,
    check_scene,
    console,
    emit,
    numbers,
    path_text,
    quiet,
    readable,
    writable,
)

if TYPE_CHECKING:
    from ..contact.outcome.outcome import Outcome

FILES = (".json", ".hdf5", ".h5", ".hdf")


@app.command(rich_help_panel=Panel.STATES)
def outcome(
    target: Annotated[str, typer.Argument(metavar="FILE|SCENE", help="A problem file, or a scene.")],
    case: Annotated[str | None, typer.Option(help="Name of a case in a file of several.")] = None,
    *,
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER, for a scene.")] = None,
    at: Annotated[float | None, typer.Option(help="Time at which a scene is examined, s.")] = None,
    mu_s_rule: MuSRule = Rule.all,
    limit: Annotated[int, typer.Option(help="Largest number of leaves of the tree of modes.", min=1)] = 20_000,
    certificate: Annotated[Path | None, typer.Option(help="Write the proof.")] = None,
    json_wanted: Json = False,
) -> None:
    """Say whether there is none, one, several or a continuum of motions, and prove it.

    Example: gaussdyn outcome body.json --case f1 --certificate proof.json
    """
    if certificate is not None:
        writable("--certificate", certificate)
    with quiet(json_wanted):
        from ..contact.outcome.outcome import outcome as examine

        found = examine(read(target, case, numbers(settings), at), mu_s_rule=mu_s_rule.value, limit=limit)
        saved = found.certificate.save(certificate) if certificate and found.certificate else None
    document = document_of(found, saved)
    if json_wanted:
        emit(document)
    else:
        show(document, found.explain())


def read(target: str, case: str | None, params: dict[str, float], at: float | None) -> Any:
    """Return the problem of a file, or a scene at its start or at a later time."""
    if Path(target).suffix.lower() in FILES or "/" in target or Path(target).is_file():
        from ..contact.outcome.problem_file import read_outcome_problem

        if params or at is not None:
            raise InputError(
                "--set, --at",
                target,
                "nothing of the kind for a file",
                "They belong to scenes: gaussdyn outcome SCENE --at 0.1",
            )
        return read_outcome_problem(readable("FILE", Path(target)), case)
    from ..integrate.run.uniqueness_checks import accelerating
    from .contacts_command import scene_at

    check_scene(target, "a problem file")
    scene, state = scene_at(target, params, at)
    return accelerating(scene.system, state, scene.control)


def document_of(found: Outcome, saved: Path | None) -> dict[str, Any]:
    """Return the outcome as the file formats describe it."""
    return {
        "schema": "gaussdyn/outcome/1",
        "outcome": str(found.verdict),
        "count": found.count,
        "level": found.level,
        "proof": "exact" if found.exact else "numerical",
        "solutions": found.solutions(),
        "certificate": path_text(saved),
        "reason": found.reason or None,
        "remains": list(found.remains),
    }


def show(document: dict[str, Any], sentence: str) -> None:
    """Print an outcome for people."""
    screen = console()
    screen.print(sentence, style="bold", soft_wrap=True, markup=False)
    for k, solution in enumerate(document["solutions"], start=1):
        place = "a continuum" if solution["point"] is None else ", ".join(f"{float(x):.6g}" for x in solution["point"])
        forces = "" if solution["force_unique"] else "; reactions not unique"
        modes = " ".join(mode for mode in solution["modes"] if mode)
        screen.print(f"{k}. {modes}: {place}{slips(solution)}{forces}", soft_wrap=True, markup=False)
    if document["certificate"]:
        screen.print(
            f"certificate: {document['certificate']} (gaussdyn verify {document['certificate']})", soft_wrap=True
        )


def slips(solution: dict[str, Any]) -> str:
    """Return in which directions contacts in space begin to slip, in words; "" if none does."""
    given = solution.get("angle_deg")
    angles = given if isinstance(given, list) else [given]
    known = [f"{angle:.6g} degrees" for angle in angles if angle is not None]
    arcs = [face["angles_deg"] for face in solution["faces"] if "angles_deg" in face]
    known += [f"any of {low:.6g} to {high:.6g} degrees" for low, high in arcs]
    return f"; slips towards {', '.join(known)} (from t1 to t2)" if known else ""


@app.command(rich_help_panel=Panel.CHECKS)
def verify(
    files: Annotated[list[str], typer.Argument(metavar="CERTIFICATE", help="Certificate files.")],
) -> None:
    """Check certificates with the stand-alone checker; exit status 2: none, or of an unknown kind.

    Example: gaussdyn verify proof.json
    """
    from .. import checker_spatial_several

    raise typer.Exit(checker_spatial_several.main(files))
