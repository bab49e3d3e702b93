"""What a table is to show: each verdict against numbers that were made for it."""

import pytest

from coview.reports.outcome import Line, Numbers
from coview.studies import Claim, beats, best, every, rises, within


def table(**rows):
    return {name: Line(name, {"fc7": Numbers(values)} if values else {}) for name, values in rows.items()}


ROWS = table(
    low=(40.0, 41.0, 42.0),
    high=(50.0, 51.0, 53.0),
    near=(50.5, 51.5, 52.5),
    lone=(45.0,),
    broken=(float("nan"), 3.0),
    absent=(),
)


@pytest.mark.parametrize(
    ("check", "word", "reason"),
    [
        (beats("high", "low", "fc7"), "holds", r"51.33 ± 1.53 against 41.00 ± 1.00"),
        (beats("low", "high", "fc7"), "does not hold", "41.00"),
        (beats("near", "high", "fc7"), "cannot be said", "within the spread"),
        (beats("high", "low", "fc7", by=7), "holds", "51.33"),
        (beats("high", "low", "fc7", by=9), "cannot be said", "within the spread"),
        (beats("high", "low", "fc7", by=15), "does not hold", "51.33"),
        (beats("lone", "low", "fc7"), "holds", "45.00 against 41.00 ± 1.00; one seed, no spread"),
        (beats("lone", "lone", "fc7"), "cannot be said", "within the spread"),
        (beats("high", "absent", "fc7"), "cannot be said", "row 'absent' has no number for fc7"),
        (beats("high", "hi", "fc7"), "cannot be said", "there is no row 'hi'"),
        (beats("high", "low", "conv5"), "cannot be said", "row 'high' has no number for conv5"),
        (beats("high", "broken", "fc7"), "cannot be said", "row 'broken' is not finite in fc7"),
        (within("near", "high", "fc7", points=3), "holds", "51.50"),
        (within("high", "near", "fc7", points=1), "cannot be said", "within the spread"),
        (within("high", "low", "fc7", points=3), "does not hold", "41.00"),
        (best("high", "fc7", of=("high", "low", "lone")), "holds", "against 45.00 of 'lone'"),
        (best("low", "fc7", of=("low", "lone")), "does not hold", "45.00 of 'lone'"),
        (best("high", "conv5"), "cannot be said", "no number for conv5"),
        (rises(("low", "lone", "high"), "fc7"), "holds", "from 41.00 ± 1.00 to 51.33 ± 1.53"),
        (rises(("low", "high", "lone"), "fc7"), "does not hold", "45.00 at 'lone' after 51.33 ± 1.53"),
        (rises(("low", "nothing", "high"), "fc7"), "holds", "from 41.00"),
        (rises(("low", "nothing"), "fc7"), "cannot be said", "two or more"),
        (rises(("high", "near"), "fc7"), "cannot be said", "within the spread"),
    ],
)
def test_a_verdict_and_its_numbers(check, word, reason):
    found = Claim("a sentence", check).verdict(ROWS)
    assert found.word == word
    assert reason in found.reason
    assert str(found) == f"{found.word} ({found.reason})"


def test_of_several_one_that_does_not_hold_is_enough():
    holds, fails, open_ = (
        beats("high", "low", "fc7"),
        beats("low", "high", "fc7"),
        beats("high", "absent", "fc7"),
    )
    words = [Claim("", every(*checks)).verdict(ROWS).word for checks in ((holds, holds), (holds, open_))]
    assert words == ["holds", "cannot be said"]
    found = Claim("", every(open_, fails, holds)).verdict(ROWS)
    assert (found.word, found.reason) == ("does not hold", "41.00 ± 1.00 against 51.33 ± 1.53")


def test_the_best_is_sought_among_all_rows_that_have_the_number():
    rows = {name: line for name, line in ROWS.items() if name != "broken"}
    assert Claim("", best("high", "fc7")).verdict(rows).word == "cannot be said"  # `near` is as good
    del rows["near"]
    assert Claim("", best("high", "fc7")).verdict(rows).word == "holds"


def test_numbers():
    assert str(Numbers((1.0, 2.0, 6.0))) == "3.00 ± 2.65"
    assert str(Numbers((7.25,))) == "7.25"
    assert Numbers((7.25,)).deviation is None
    with pytest.raises(ValueError, match="at least one seed"):
        Numbers(())
