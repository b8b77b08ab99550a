"""Generates `gen/` from every `concord/**/*.proto`: messages, stubs, their types, and comments.

`python protos/generate.py` rewrites `gen/`; with `--check` it generates beside it and exits with 1
and the list of stale files when the two differ.
It needs the development dependencies (`grpcio-tools`, `mypy-protobuf`) and no network.
"""

import argparse
import json
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import Message
from grpc_tools import protoc  # type: ignore[import-untyped]  # it ships no types

PROTOS = Path(__file__).resolve().parent
GENERATED = PROTOS / "gen"
TYPED_MARK = "py.typed"
COMMENTS = Path("concord") / "comments.json"
"""By full name, each element's comment: generated code has descriptors without comments."""


class GenerationError(Exception):
    """The compiler refused a proto; it has said why on stderr."""


def generate(target: Path) -> None:
    """Writes what the contracts compile to into the folder `target`, which must be empty.

    Raises `GenerationError` when a contract does not compile.
    """
    every = sorted(PROTOS.glob("concord/**/*.proto"))
    with_service = [path for path in every if _has_service(path)]
    _compile(every, target, ["python_out={}", "mypy_out=quiet:{}"])
    _compile(with_service, target, ["grpc_python_out={}", "mypy_grpc_out=quiet:{}"])
    for package in {path.parent.relative_to(PROTOS) for path in every}:
        (target / package / TYPED_MARK).touch()
    described = target / "described.binpb"
    _compile(every, target, [f"descriptor_set_out={described}"], "--include_source_info")
    found = FileDescriptorSet.FromString(described.read_bytes())
    described.unlink()
    comments = dict(pair for file in found.file for pair in _comments(file))
    (target / COMMENTS).write_text(json.dumps(comments, indent=0, sort_keys=True) + "\n", "utf-8")


def stale(fresh: Path, committed: Path) -> list[str]:
    """Names the files, relative to both folders, that differ or stand in only one of them."""
    names = _names(fresh) | _names(committed)
    return sorted(name for name in names if _content(fresh / name) != _content(committed / name))


def _comments(file: FileDescriptorProto) -> Iterator[tuple[str, str]]:
    """The full names of a file's elements that have a comment, each with it."""
    for location in file.source_code_info.location:
        if text := location.leading_comments:
            lines = [line.strip() for line in text.strip().splitlines()]
            name = ".".join(_named(file, location.path))
            if name != file.package:  # the comment of the file itself
                yield name, "\n".join(lines)


def _named(file: FileDescriptorProto, path: Sequence[int]) -> Iterator[str]:
    """The parts of an element's full name. `path`: the numbers of fields and the places in them."""
    yield file.package
    element: Message = file
    for number, index in zip(path[::2], path[1::2], strict=False):
        field = element.DESCRIPTOR.fields_by_number[number]
        if not field.is_repeated or field.message_type is None:
            return
        element = getattr(element, field.name)[index]
        yield element.name  # type: ignore[attr-defined]  # all that a file holds have names


def _compile(sources: list[Path], target: Path, outputs: list[str], *options: str) -> None:
    scripts = Path(sysconfig.get_path("scripts"))
    command = [
        "protoc",
        f"--proto_path={PROTOS}",
        f"--proto_path={files('grpc_tools') / '_proto'}",
        *(f"--plugin={name}={scripts / name}" for name in _PLUGINS),
        *(f"--{output.format(target)}" for output in outputs),
        *options,
        *(str(path.relative_to(PROTOS)) for path in sources),
    ]
    if sources and protoc.main(command) != 0:
        raise GenerationError


_PLUGINS = ("protoc-gen-mypy", "protoc-gen-mypy_grpc")


def _has_service(path: Path) -> bool:
    return any(line.startswith("service ") for line in path.read_text("utf-8").splitlines())


def _names(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(name) for name in found if "__pycache__" not in name.parts}


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def main() -> int:
    """Runs the command line; returns the exit status."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--check", action="store_true", help="only compare; 1 when stale")
    check = arguments.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        try:
            generate(fresh)
        except GenerationError:
            return 1
        names = stale(fresh, GENERATED)
        if check:
            for name in names:
                sys.stderr.write(f"stale: protos/gen/{name} (run `make protos`)\n")
            return 1 if names else 0
        for name in names:
            _renew(fresh / name, GENERATED / name)
    return 0


def _renew(fresh: Path, committed: Path) -> None:
    if fresh.is_file():
        committed.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(fresh, committed)
    else:
        committed.unlink()


if __name__ == "__main__":
    sys.exit(main())
