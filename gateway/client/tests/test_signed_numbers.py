"""Numbers in what is signed have one spelling."""

import json
from hashlib import sha256

import pytest
import rfc8785
from concord.governance.v1 import proposal_pb2
from concord_client.trust import digests
from concord_client.trust.review import ReviewError, review
from odd_numbers import OTHER, WHOLE


@pytest.mark.parametrize("number", [*WHOLE, *OTHER])
def test_one_rule_writes_numbers(number: float) -> None:
    """V6 What was written by RFC 8785 is, once parsed, written the same again."""
    written = rfc8785.dumps({"n": number})

    assert digests.canonical(json.loads(written)) == written


def test_a_number_beyond_doubles_is_refused() -> None:
    """V6 It has no canonical form: the check that fails is told, not a traceback."""
    with pytest.raises(ValueError, match="beyond every double"):
        digests.canonical({"n": 10**400})
    result = proposal_pb2.Proposal(canonical=b'{"n":1' + b"0" * 400 + b"}")
    result.digest = sha256(result.canonical).hexdigest()
    with pytest.raises(ReviewError, match="canonical"):
        review(result)
