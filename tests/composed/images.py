"""The images: the services' from `deploy/Dockerfile`, and what stands for images of others."""

import lzma
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from concord_neo4j import distribution

ROOT = Path(__file__).parents[2]
STAND_IN = ROOT / "tests" / "support" / "qdrant_stand_in"
SERVICES = ("graph", "search", "dissonance", "governance", "gateway")
NAMES = "concord-test"
BASE = f"{NAMES}/base"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
PACKAGES = "python3-minimal,python3-venv,ca-certificates"


def build(environ: Mapping[str, str], folder: Path) -> None:
    """Builds each service's image on BASE_IMAGE, else on a Debian that is made here."""
    base = environ.get("BASE_IMAGE") or _debian(environ, folder)
    for service in SERVICES:
        command = ["docker", "build", "-q", "-f", "deploy/Dockerfile", "--target", service]
        command += ["-t", f"{NAMES}/{service}:0.1.0", "--build-arg", f"BASE_IMAGE={base}"]
        subprocess.run([*command, "--network", "host", "."], cwd=ROOT, env=environ, check=True)


def instead_of_public(environ: Mapping[str, str]) -> dict[str, str]:
    """What `compose.test.yaml` asks for; empty where BASE_IMAGE says that images are pulled."""
    if environ.get("BASE_IMAGE"):
        return {}
    jars = distribution.class_path(distribution.cache())
    return {
        "TEST_BASE_IMAGE": BASE,
        "TEST_JAVA": str(Path(distribution.java()).resolve().parents[1]),
        "TEST_NEO4J_JARS": jars,
        "TEST_NEO4J_REPOSITORY": os.path.commonpath(jars.split(":")),
        "TEST_QDRANT_IMAGE": _qdrant(environ),
    }


def _qdrant(environ: Mapping[str, str]) -> str:
    """The name of an image of Qdrant's stand-in, which is built on search's."""
    name = f"{NAMES}/qdrant-stand-in"
    command = ["docker", "build", "-q", "-t", name]
    command += ["--build-arg", f"SEARCH={NAMES}/search:0.1.0", str(STAND_IN)]
    subprocess.run(command, env=environ, check=True)
    return name


def unpacked(packed: Path, program: Path) -> str:
    """The path of a program that an .xz file holds."""
    with lzma.open(packed) as source, program.open("wb") as target:
        shutil.copyfileobj(source, target)
    program.chmod(0o755)
    return str(program)


def _debian(environ: Mapping[str, str], folder: Path) -> str:
    """A Debian with Python, and with the certificates that this machine trusts."""
    known = subprocess.run(
        ["docker", "image", "inspect", BASE], env=environ, capture_output=True, check=False
    )
    if known.returncode:
        if shutil.which("mmdebstrap") is None:
            raise SystemExit("The base image is made by mmdebstrap: install it, or set BASE_IMAGE.")
        tar = folder / "base.tar"
        made = ["mmdebstrap", "-q", "--variant=minbase", f"--include={PACKAGES}"]
        made += [f"--customize-hook=copy-in {CERTIFICATES} /etc/ssl/certs", "bookworm", str(tar)]
        subprocess.run(made, check=True)
        change = f"ENV PIP_CERT={CERTIFICATES}"
        subprocess.run(["docker", "import", "--change", change, tar, BASE], env=environ, check=True)
        tar.unlink()
    return BASE
