"""Which law of the zoo runs when."""

from pathlib import Path

from tests.zoo import CASES

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """The laws of one model follow each other, for they share its runs."""
    place = {id(case): k for k, case in enumerate(CASES.values())}
    mine = [k for k, item in enumerate(items) if item.path == HERE / "test_laws.py"]
    laws = sorted((items[k] for k in mine), key=lambda x: place[id(x.callspec.params["case"])])
    for k, law in zip(mine, laws):
        items[k] = law
