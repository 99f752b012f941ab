"""The page of what values have is what its script writes."""

from scripts import objects_page


def test_the_page_is_up_to_date():
    written = objects_page.PAGE.read_text()
    assert objects_page.page() == written, "run `python -m scripts.objects_page`"
    assert "|  |" not in written, "a method without a docstring"
