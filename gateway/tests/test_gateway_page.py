"""The page's files as the gateway serves them."""

import gzip
import json
from pathlib import Path

import concord_gateway
import pytest
from concord.rules.v1 import rules_pb2
from gateway_echo import ECHO, INTERNAL, Front, front
from vendor_page import digest_of

PAGE = Path(concord_gateway.__file__).parent / "page"


async def test_the_page_is_served_under_a_strict_policy(tmp_path: Path) -> None:
    """W5 W6: no inline script or style, nothing from elsewhere, in no frame of another page."""
    async with front(tmp_path, page=True) as door:
        response = await door.http.get("/")

    policy = response.headers["content-security-policy"]
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert policy.startswith("default-src 'self'; ")
    assert "frame-ancestors 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    assert "blob:" not in policy
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "<script>" not in response.text
    assert "style=" not in response.text


async def test_files_are_packed_and_asked_again_by_their_etag(tmp_path: Path) -> None:
    """W5: each file once; the whole page in at most 600 KB."""
    total = 0
    async with front(tmp_path, page=True) as door:
        for path in (*PAGE.rglob("*.js"), *PAGE.rglob("*.css"), *PAGE.rglob("*.html")):
            at = f"/page/{path.relative_to(PAGE)}"
            response = await door.http.get(at)
            again = await door.http.get(at, headers={"if-none-match": response.headers["etag"]})

            assert response.content == path.read_bytes()
            assert response.headers["content-encoding"] == "gzip"
            assert (again.status_code, again.content) == (304, b"")
            total += len(gzip.compress(path.read_bytes()))
        other = [
            (await door.http.get(f"/page/{name}")).status_code
            for name in ("vendor.json", "vendor/sigma/LICENSE.txt", "../config.py", "%2e%2e/tls.py")
        ]

    assert 50_000 < total < 600_000
    assert other == [404] * 4


async def test_without_the_switch_there_is_no_page(door: Front) -> None:
    """W5 W6: `GATEWAY_PAGE` is off unless somebody turns it on; `/` leads to the contract."""
    response = await door.http.get("/page/app.js")

    assert response.status_code == 404
    assert (await door.http.get("/")).headers["location"] == "/contract"


async def test_permissions_are_those_of_the_contract(tmp_path: Path) -> None:
    """W5: the page knows by the contract which calls a key may make."""
    async with front(tmp_path, page=True) as door:
        response = await door.http.get("/page/permissions.js")

    found = json.loads(response.text.removeprefix("export default ").removesuffix(";\n"))
    assert found == {
        f"{service.full_name}/{method.name}".replace(".v1.", ".", 1).removeprefix("concord."): (
            method.GetOptions().Extensions[rules_pb2.method].permission
        )
        for service in (ECHO, INTERNAL)
        for method in service.methods
    }
    assert len(found) > 2
    assert response.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "package", json.loads((PAGE / "vendor.json").read_text()), ids=lambda each: each["name"]
)
def test_libraries_are_the_bytes_of_npm(package: dict[str, dict[str, str]]) -> None:
    """W5: each vendored file has the sha512 that the lock file states: as npm's archive
    has it, from which `requirements/vendor_page.py` took it from npm's archive."""
    folder = PAGE / "vendor" / str(package["name"])
    found = {
        str(path.relative_to(folder)): digest_of(path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }

    assert found == {Path(path).name: digest for path, digest in package["files"].items()}
    assert {"version", "licence", "sha512"} <= set(package)


def test_nothing_else_is_vendored() -> None:
    """W5: no folder without its entry in the lock file."""
    named = {each["name"] for each in json.loads((PAGE / "vendor.json").read_text())}

    assert {each.name for each in (PAGE / "vendor").iterdir()} == named
