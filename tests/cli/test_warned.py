"""Warnings of this package on the command line."""

import warnings

import coview
from coview.cli.warned import plain_warnings


def said(filename, text):
    return warnings.formatwarning(text, UserWarning, filename, 1)


def test_a_warning_is_one_line_and_said_once():
    with plain_warnings():
        assert said(coview.__file__, "two files\n are broken") == "coview: two files are broken\n"
        assert said(coview.__file__, "one is") == "coview: one is\n"
        assert said(coview.__file__, "two files\n are broken") == ""


def test_warnings_of_others_say_where_they_come_from():
    with plain_warnings():
        assert said("elsewhere.py", "old").startswith("elsewhere.py:1: UserWarning: old")
    assert said(coview.__file__, "old").startswith(coview.__file__)  # as it was before
