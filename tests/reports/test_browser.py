"""The page in a browser that reaches no network: it opens, answers to the pointer, and complains of nothing."""

import shutil

import pytest
from page_parts import history, samples

from coview.reports.page import Section
from coview.reports.runs import Run, report_page
from coview.reports.widgets import Confusion

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def chromium():
    api = pytest.importorskip(
        "playwright.sync_api", reason="the browser test needs playwright: pip install playwright"
    )
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("the browser test needs Chromium: on Debian, apt install chromium")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A report of two runs, one of them with samples and classes."""
    folder = tmp_path_factory.mktemp("page")
    runs = [
        Run(folder / name, name, {"recipe": "demo", "fields": {"seed": n}}, history(), None)
        for n, name in enumerate(("one", "two"))
    ]
    looks = {runs[0].folder: [Section("Samples"), samples(), Confusion(("x", "y"), ((3, 1), (0, 4)))]}
    (folder / "report.html").write_text(report_page(runs, looks), encoding="utf-8")
    return (folder / "report.html").as_uri()


@pytest.fixture(params=["light", "dark"])
def opened(chromium, address, request):
    """The page, and whatever it complained of."""
    context = chromium.new_context(
        color_scheme=request.param, viewport={"width": 1100, "height": 900}, offline=True
    )
    tab = context.new_page()
    complaints = []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on(
        "request",
        lambda request: (
            complaints.append(request.url) if not request.url.startswith(("file:", "data:")) else None
        ),
    )
    tab.goto(address)
    tab.wait_for_selector('.widget[data-kind="samples"][data-ready="yes"]')
    yield tab
    assert complaints == []
    context.close()


PIXELS = """(one) => { const copy = document.createElement('canvas'); copy.width = one.width; copy.height = one.height;
    const context = copy.getContext('2d', { willReadFrequently: true }); context.drawImage(one, 0, 0);
    const c = context.getImageData(0, 0, one.width, one.height).data; const s = one.width / one.clientWidth;
    let count = 0; let first = null;
    for (let i = 3; i < c.length; i += 4) { count += c[i] > 0; if (first === null && c[i] > 150) first = (i - 3) / 4; }
    return { count, x: (first % one.width) / s, y: Math.floor(first / one.width) / s }; }"""


def pixels(tab, kind):
    """How many pixels of a widget's canvas are drawn on, and the first of those that are not faint."""
    return tab.locator(f'.widget[data-kind="{kind}"] canvas').first.evaluate(PIXELS)


def test_everything_is_drawn(opened):
    assert pixels(opened, "curves")["count"] > 2000
    assert pixels(opened, "samples")["count"] > 300
    assert opened.locator("table.pairs button").count() == 4
    assert (
        opened.locator('.widget[data-kind="samples"]').get_attribute("data-sample") == "1"
    )  # the first lacks ab
    width = opened.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0  # nothing sticks out at the side


def test_hovering_tells_values_and_dragging_zooms(opened):
    curves = opened.locator('.widget[data-kind="curves"]').nth(1)
    curves.scroll_into_view_if_needed()
    box = curves.locator("canvas").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + 120
    opened.mouse.move(*middle)
    tip = curves.locator(".tip")
    assert tip.is_visible()
    assert "L->ab" in tip.inner_text()
    opened.mouse.down()
    opened.mouse.move(middle[0] + 150, middle[1])
    opened.mouse.up()
    assert curves.get_attribute("data-zoomed") == "yes"
    opened.mouse.dblclick(*middle)
    assert curves.get_attribute("data-zoomed") is None


def test_a_pair_shows_its_curve(opened):
    opened.locator("table.pairs button").first.click()
    curves = opened.locator('.widget[data-kind="curves"]').nth(1)
    pressed = curves.locator('.controls:last-of-type .chip[aria-pressed="true"]').all_inner_texts()
    assert "L->ab" in pressed
    assert "ab->L" not in pressed


def test_a_sample_shows_its_neighbours_and_they_can_be_clicked(opened):
    explorer = opened.locator('.widget[data-kind="samples"]')
    explorer.locator(".contact .tile").nth(5).click()
    first = explorer.locator(".panel h3").inner_text()
    near = explorer.locator(".tiles.near .tile")
    assert near.count() == 4
    sample = int(explorer.get_attribute("data-sample"))
    near.nth(1).click()
    assert int(explorer.get_attribute("data-sample")) != sample
    assert explorer.locator(".panel h3").inner_text() != first


def test_all_samples_are_shown_in_the_view_that_is_chosen(opened):
    explorer = opened.locator('.widget[data-kind="samples"]')
    assert explorer.locator(".contact .image").count() == 17
    assert explorer.locator(".contact .missing").count() == 0
    explorer.locator(".controls").last.get_by_role("button", name="ab", exact=True).click()
    assert explorer.locator(".contact .image").count() == 17
    assert explorer.locator(".contact .missing").count() == 5  # every fourth lacks it
    explorer.locator(".contact .tile:has(.image:not(.missing))").nth(5).click()
    assert explorer.locator(".tiles.own .tile[aria-pressed=true]").inner_text() == "ab"


def test_a_dot_on_the_map_is_a_sample(opened):
    explorer = opened.locator('.widget[data-kind="samples"]')
    canvas = explorer.locator("canvas")
    canvas.scroll_into_view_if_needed()
    place = pixels(opened, "samples")
    box = canvas.bounding_box()
    opened.mouse.move(box["x"] + place["x"], box["y"] + place["y"] + 3)
    assert explorer.locator(".tip").is_visible()
    opened.mouse.click(box["x"] + place["x"], box["y"] + place["y"] + 3)
    assert explorer.locator(".panel h3").inner_text().startswith("sample")
    explorer.get_by_role("button", name="view", exact=True).click()
    assert pixels(opened, "samples")["count"] > 300


def test_on_a_phone_nothing_sticks_out(chromium, address):
    context = chromium.new_context(viewport={"width": 390, "height": 800}, offline=True)
    tab = context.new_page()
    tab.goto(address)
    tab.wait_for_selector('.widget[data-kind="samples"][data-ready="yes"]')
    assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    context.close()
