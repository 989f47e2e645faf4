"""What the tests of the protocol share."""

import pytest

from scopa_protocol.codec import CODECS, Codec


@pytest.fixture(params=list(CODECS.values()), ids=list(CODECS))
def codec(request: pytest.FixtureRequest) -> Codec:
    """Each of the two subprotocols."""
    chosen: Codec = request.param
    return chosen
