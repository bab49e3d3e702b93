"""The estimator: scikit-learn's own checks, its forms of input, gaps, and that it learns what views share."""

import pickle

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.utils.estimator_checks import estimator_checks_generator  # noqa: E402

import coview  # noqa: E402
from coview.estimator import MultiViewEncoder, side_by_side  # noqa: E402

N, CLASSES = 180, 3
SIZES = {"sound": 9, "touch": 5, "smell": 7}
QUICK = {"output": "hidden", "epochs": 8, "hidden": (32,), "dim": 11, "drop": 0.2, "random_state": 0}


def tables(samples=N, missing=0.0, seed=0):
    """Three projections of one hidden vector around one of three centres, as in toys.py, for NumPy."""
    draw, plan = np.random.default_rng(seed), np.random.default_rng(7)
    centres = plan.normal(size=(CLASSES, 6)) * 1.5
    label = draw.integers(CLASSES, size=samples)
    hidden = centres[label] + draw.normal(size=(samples, 6))
    views = {}
    for name, size in SIZES.items():
        views[name] = hidden @ plan.normal(size=(6, size)) + 0.3 * draw.normal(size=(samples, size))
        views[name] = views[name] * 10 ** plan.uniform(-3, 3, size=size)  # columns of any scale
        if missing and name != "sound":
            views[name][draw.random(samples) < missing] = np.nan
    return views, label


EXPECTED = {"check_array_api_input": "asked for with SCIPY_ARRAY_API alone"}


@pytest.mark.parametrize(
    ("estimator", "check"),
    list(estimator_checks_generator(MultiViewEncoder(epochs=2, hidden=(8,), dim=4), mark=None)),
    ids=lambda one: getattr(getattr(one, "func", None), "__name__", ""),
)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_checks(estimator, check):
    """X is one array there, so its two halves are the views."""
    if check.func.__name__ in EXPECTED:
        pytest.skip(EXPECTED[check.func.__name__])
    check(estimator)


def test_it_is_at_the_top_of_the_package():
    assert coview.MultiViewEncoder is MultiViewEncoder
    with pytest.raises(AttributeError, match="no attribute 'MultiViewDecoder'"):
        _ = coview.MultiViewDecoder


def test_all_forms_of_input_are_one():
    views, _ = tables()
    array, groups = side_by_side(views)
    ours = MultiViewEncoder(**QUICK).fit_transform(views)
    assert ours.shape == (N, 3 * 32)
    widths = [len(one) for one in groups.values()]
    for columns in (widths, groups, {name: slice(one[0], one[-1] + 1) for name, one in groups.items()}):
        other = MultiViewEncoder(columns=columns, **QUICK).fit(array)
        np.testing.assert_allclose(other.transform(array), ours, rtol=1e-5, atol=1e-6)
    listed = MultiViewEncoder(**QUICK).fit(list(views.values()))
    np.testing.assert_allclose(listed.transform(list(views.values())), ours, rtol=1e-5, atol=1e-6)
    assert list(listed.groups_) == ["view1", "view2", "view3"]


def test_a_frame_says_its_views_by_the_names_of_its_columns():
    pandas = pytest.importorskip("pandas")
    views, _ = tables()
    frame = pandas.concat({name: pandas.DataFrame(one) for name, one in views.items()}, axis=1)
    frame.columns = [f"{view}.{number}" for view, number in frame.columns]
    found = MultiViewEncoder(**QUICK).fit(frame)
    assert {name: len(one) for name, one in found.groups_.items()} == SIZES
    ours = MultiViewEncoder(**QUICK).fit_transform(views)
    np.testing.assert_allclose(found.transform(frame), ours, rtol=1e-5, atol=1e-6)


def test_a_seed_is_a_run_and_leaves_others_alone():
    import torch

    views, _ = tables()
    torch.manual_seed(3)
    one = MultiViewEncoder(**QUICK).fit_transform(views)
    after = torch.rand(1)
    torch.manual_seed(3)
    torch.testing.assert_close(after, torch.rand(1))
    np.testing.assert_array_equal(one, MultiViewEncoder(**QUICK).fit_transform(views))
    other = MultiViewEncoder(**{**QUICK, "random_state": 1}).fit_transform(views)
    assert np.abs(one - other).max() > 0.1


def test_views_of_a_sample_find_each_other():
    views, _ = tables()
    new, _ = tables(seed=1)
    untrained = MultiViewEncoder(**{**QUICK, "learning_rate": 0.0}).fit(views)
    trained = MultiViewEncoder(**{**QUICK, "epochs": 120}).fit(views)
    assert untrained.score(new) < 0.1
    assert trained.score(new) > 0.25
    assert trained.losses_[-1] < trained.losses_[0] - 1
    scores = trained.encode(new)
    np.testing.assert_allclose(np.linalg.norm(scores["touch"], axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("output", ["fused", "all"])
def test_what_is_missing_is_guessed(output):
    """With half of two views gone, features still tell the classes, and a gap is filled with more than a mean."""
    views, label = tables(400, missing=0.5)
    new, truth = tables(150, missing=0.5, seed=1)
    encoder = MultiViewEncoder(**{**QUICK, "output": output, "epochs": 40}).fit(views)
    out = encoder.transform(new)
    widths = {"hidden": 3 * 32, "embedding": 3 * 11, "fused": 11, "all": 3 * 32 + sum(SIZES.values())}
    assert out.shape == (150, widths[output])
    assert np.isfinite(out).all()
    classifier = LogisticRegression(max_iter=2000).fit(encoder.transform(views), label)
    assert classifier.score(out, truth) > 0.85
    encoded = encoder.encode(new)
    np.testing.assert_array_equal(np.isnan(encoded["touch"][:, 0]), np.isnan(new["touch"][:, 0]))


def test_a_guess_is_nearer_to_the_truth_than_the_mean():
    views, _ = tables(400)
    new, _ = tables(150, seed=1)
    encoder = MultiViewEncoder(**{**QUICK, "epochs": 150}).fit(views)
    whole = encoder.transform(new)[:, 32:64]
    less = encoder.transform({**new, "touch": np.full_like(new["touch"], np.nan)})[:, 32:64]
    usual = encoder.transform(views)[:, 32:64].mean(0)
    assert ((less - whole) ** 2).mean() < 0.6 * ((usual - whole) ** 2).mean()


def test_a_sample_without_any_view_and_a_cell_without_a_number():
    views, _ = tables()
    encoder = MultiViewEncoder(**QUICK).fit(views)
    nothing = {name: np.full((2, size), np.nan) for name, size in SIZES.items()}
    assert np.isfinite(encoder.transform(nothing)).all()
    views["sound"][3, 2] = np.nan
    assert not np.isnan(encoder.encode(views)["sound"]).any()


def test_in_a_pipeline_and_a_grid():
    views, label = tables()
    array, groups = side_by_side(views)
    steps = make_pipeline(MultiViewEncoder(columns=groups, **QUICK), LogisticRegression(max_iter=500))
    assert cross_val_score(steps, array, label, cv=2).mean() > 0.8
    grid = {"multiviewencoder__temperature": [0.1, 0.3], "multiviewencoder__graph": ["full", "sound"]}
    search = GridSearchCV(steps, grid, cv=2).fit(array, label)
    assert search.best_score_ > 0.8
    alone = GridSearchCV(MultiViewEncoder(columns=groups, **QUICK), {"dim": [2, 16]}, cv=2).fit(array)
    assert alone.best_params_ == {"dim": 16}


def test_clone_and_pickle():
    views, _ = tables()
    encoder = MultiViewEncoder(negatives="memory", **QUICK).fit(views)
    assert clone(encoder).get_params() == encoder.get_params()
    again = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(again.transform(views), encoder.transform(views))
    assert len(encoder.get_feature_names_out()) == 96


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"output": "hiden"}, r"output must be one of .*, got 'hiden' \(did you mean 'hidden'\?\)"),
        ({"negatives": "queue"}, "negatives must be 'batch' or 'memory', got 'queue'"),
        ({"graph": "taste"}, r"graph must be 'full', edges, or a view \(sound, touch, smell\), got 'taste'"),
        ({"graph": [("sound", "tuch")]}, r"contrasts view 'tuch', but X has .* \(did you mean 'touch'\?\)"),
    ],
)
def test_wrong_settings(settings, words):
    with pytest.raises(ValueError, match=words):
        MultiViewEncoder(**{**QUICK, **settings}).fit(tables()[0])


def test_wrong_input():
    views, _ = tables()
    array, _ = side_by_side(views)
    with pytest.raises(ValueError, match="widths of the views: their sum should be the 21 columns"):
        MultiViewEncoder(columns=[9, 5], **QUICK).fit(array)
    with pytest.raises(ValueError, match="view 'a' wants columns"):
        MultiViewEncoder(columns={"a": [30], "b": [1]}, **QUICK).fit(array)
    with pytest.raises(ValueError, match="views need one row a sample, got a 180, b 3"):
        MultiViewEncoder(**QUICK).fit({"a": array, "b": array[:3]})
    encoder = MultiViewEncoder(**QUICK).fit(views)
    with pytest.raises(ValueError, match="wanted the views that were fitted"):
        encoder.transform({"sound": views["sound"]})
    with pytest.raises(ValueError, match="contrast needs two views or more"):
        MultiViewEncoder(**QUICK).fit({"a": array})
