"""Fetches the page's JavaScript libraries again, as `vendor.json` beside the page names them.

    python requirements/vendor_page.py

Each archive is npm's and has the sha512 that the file states; only the files that it lists are
kept, byte for byte and by their names, with the package's licence, and it states each one's sha512.
To take another version, change `version` and take out `sha512`.
"""

import base64
import json
import subprocess
import tarfile
import tempfile
from hashlib import sha512
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "gateway/concord_gateway/page"
LOCK = PAGE / "vendor.json"


def main() -> None:
    """Fetches all packages and writes the lock file."""
    packages = json.loads(LOCK.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        done = [fetched(each, Path(folder)) for each in packages]
    LOCK.write_text(json.dumps(done, indent=2) + "\n", "utf-8")


def fetched(package: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Puts a package's files into `vendor/NAME/`; its entry in the lock file, whole."""
    name, version = package["name"], package["version"]
    subprocess.run(
        ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{name}@{version}"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    archive = folder / f"{name}-{version}.tgz"
    digest = digest_of(archive.read_bytes())
    if package.get("sha512", digest) != digest:
        raise SystemExit(f"{name} {version} is not what the lock file names: {digest}")
    kept = {}
    with tarfile.open(archive) as opened:
        for path in package["files"]:
            target = PAGE / "vendor" / name / Path(path).name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(read(opened, path))
            kept[path] = digest_of(target.read_bytes())
        licence = json.loads(read(opened, "package.json"))["license"]
    return {
        "name": name,
        "version": version,
        "licence": licence,
        "sha512": digest,
        "files": kept,
    }


def read(archive: tarfile.TarFile, path: str) -> bytes:
    """A file of a package."""
    member = archive.extractfile(f"package/{path}")
    if member is None:
        raise SystemExit(f"{path} is no file.")
    return member.read()


def digest_of(data: bytes) -> str:
    """Their sha512 in base64, as npm's lock files write it."""
    return base64.b64encode(sha512(data).digest()).decode()


if __name__ == "__main__":
    main()
