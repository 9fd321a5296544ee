"""The pytest plugin: the fixture `seqmix_oracle`."""
from __future__ import annotations

from types import SimpleNamespace

import pytest


@pytest.fixture
def seqmix_oracle() -> SimpleNamespace:
    """The oracle and its judges: `.ref`, `.assert_close`, `.check_layer`, `.draw`. Where PyTorch is missing,
    check_layer skips."""
    from seqmix import ref, testing

    def check_layer(*args, **options):
        pytest.importorskip("torch")
        return testing.check_layer(*args, **options)

    return SimpleNamespace(
        ref=ref, assert_close=testing.assert_close, check_layer=check_layer, draw=testing.draw
    )
