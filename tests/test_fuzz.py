"""Files that are not what they should be: every reader answers with a documented error, or reads them."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from readers import READERS, Reader, edited

EDIT = st.tuples(st.integers(0, 4096), st.sampled_from([0, 1, 2, 4, 16, 300]), st.binary(max_size=8))
QUIETLY = settings(
    max_examples=20,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def names() -> list[str]:
    return [reader.name for reader in READERS]


@pytest.fixture(scope="module")
def whole() -> dict[str, list[bytes]]:
    return {reader.name: list(reader.files()) for reader in READERS}


@pytest.mark.parametrize("reader", READERS, ids=names())
def test_whole_files_are_read(reader: Reader, whole):
    assert any(reader(data) for data in whole[reader.name])


@pytest.mark.parametrize("reader", READERS, ids=names())
def test_no_file_is_too_strange(reader: Reader, whole):
    @QUIETLY
    @given(number=st.integers(0, 999), cut=st.integers(0, 4096), edits=st.lists(EDIT, max_size=4))
    def read(number: int, cut: int, edits: list[tuple[int, int, bytes]]) -> None:
        data = whole[reader.name][number % len(whole[reader.name])]
        data = data[: cut if number % 3 == 0 else None]
        reader(edited(data, edits))

    read()
