"""The page stands by itself and trusts no name."""

import re
from html.parser import HTMLParser

import pytest

from coview.reports.curves import pair_curves
from coview.reports.page import Command, Picture, Section, page, write_page
from coview.reports.tables import Table

EVIL = "<b>\"&'</b>"
PARTS = [
    Section(EVIL, f"Some text with {EVIL}."),
    Picture(pair_curves([]), caption=EVIL),
    Section("Numbers"),
    Table(EVIL, (EVIL, "n"), ((EVIL, 1.0),), note=EVIL),
    Command(f"coview show {EVIL}"),
]


class Reader(HTMLParser):
    """Which tags there are, whether they close, and what the page leads to."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.references, self.ids = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in ("meta", "link", "img"):
            self.open.append(tag)
        values = dict(attributes)
        self.references += [values[name] for name in ("src", "href", "srcset", "action") if name in values]
        self.ids += [values["id"]] if "id" in values else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_nothing_outside_of_the_page_is_used():
    html = page(EVIL, PARTS)
    reader = Reader(html)
    assert reader.open == []
    assert "http://" not in html
    assert "https://" not in html
    assert not re.search(r"@import|url\(|<script", html)
    assert sum(reference.startswith("data:image/png;base64,") for reference in reader.references) == 1
    assert all(reference.startswith(("data:", "#")) for reference in reader.references)


def test_names_are_escaped_everywhere():
    html = page(EVIL, PARTS)
    assert EVIL not in html
    assert Reader(html).tags.count("b") == 0
    assert html.count("&lt;b&gt;") >= 9


def test_the_contents_lead_to_the_sections():
    reader = Reader(page("t", PARTS))
    assert [f"#{name}" for name in reader.ids] == [link for link in reader.references if link.startswith("#")]
    assert len(reader.ids) == 2
    assert "nav" not in Reader(page("t", PARTS[:2])).tags


def test_phones_and_dark_rooms_are_thought_of():
    html = page("t", [])
    assert 'name="viewport"' in html
    assert "prefers-color-scheme: dark" in html


def test_the_picture_has_two_points_for_each_point_of_the_page():
    figure = pair_curves([])
    html = page("t", [Picture(figure)])
    assert f'width="{round(figure.get_size_inches()[0] * 96)}"' in html


def test_a_page_is_written_whole(tmp_path):
    path = tmp_path / "new" / "report.html"
    write_page(path, "old ± page")
    write_page(path, "new – page")
    assert path.read_text(encoding="utf-8") == "new – page"
    assert list(path.parent.iterdir()) == [path]


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    write_page(path, "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_page(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
