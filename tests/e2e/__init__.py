"""Tests of the whole site. What these modules claim is explained when it does not hold, as in the tests themselves."""

import pytest

pytest.register_assert_rewrite("tests.e2e.chat_page", "tests.e2e.program", "tests.e2e.tasks")
