"""Neo4j Browser of the managed server, driven as an analyst drives it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, sync_playwright

from amos_graph.graph.local import LocalNeo4j, Running
from amos_graph.graph.transactions import connect
from tests.local.conftest import SMALL

pytestmark = pytest.mark.browser

SCREENSHOT = Path(__file__).resolve().parents[2] / "docs" / "images" / "browser.png"
_WAIT_MS = 60_000
REPORT = (
    "MATCH path = (belief:Belief)-[:SUPERSEDES|SUPPORTS|EVIDENCED_BY|REFERS_TO*1..2]-() RETURN path LIMIT 100"
)
STORY = """
CREATE (now:Atom:Belief:Live {title: 'The Berlin office opens at 9'}),
  (before:Atom:Belief {title: 'The Berlin office opens at 8'}),
  (goal:Atom:Goal:Live {title: 'Answer callers in time'}),
  (office:Entity {title: 'Berlin office'}),
  (letter:Evidence {title: 'Letter of 3 May'}),
  (call:Evidence {title: 'Call of 9 June'}),
  (now)-[:SUPERSEDES]->(before),
  (now)-[:SUPPORTS]->(goal),
  (now)-[:EVIDENCED_BY]->(call),
  (before)-[:EVIDENCED_BY]->(letter),
  (now)-[:REFERS_TO]->(office),
  (before)-[:REFERS_TO]->(office)
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A managed server with a small story in it."""
    server = LocalNeo4j(tmp_path_factory.mktemp("browser"), options=SMALL)
    started = server.start()
    with connect(started.uri, started.user, started.password) as driver:
        driver.execute_query(STORY, database_="neo4j")
    yield started
    server.stop()


@pytest.fixture
def page() -> Iterator[Page]:
    """A page of the machine's Chromium; `apt-get install chromium` brings one."""
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert executable, "no Chromium on PATH: apt-get install chromium, or name one in CHROMIUM"
    # As root, as in a container, Chromium runs only without its sandbox; the pages are our own.
    flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=flags)
        opened = browser.new_page(viewport={"width": 1440, "height": 900})
        opened.set_default_timeout(_WAIT_MS)
        yield opened
        browser.close()


def log_in(page: Page, running: Running) -> None:
    """Open Browser, give user and password, wait until it is connected."""
    page.goto(running.browser_url)
    page.get_by_test_id("username").fill(running.user)
    page.get_by_test_id("password").fill(running.password)
    page.get_by_test_id("connect").click()
    page.get_by_test_id("password").wait_for(state="detached")


def run(page: Page, statement: str) -> None:
    """Type a statement into the editor and run it."""
    page.locator(".monaco-editor").first.click()
    page.keyboard.insert_text(statement)
    # The button takes what the editor has told it; that comes a moment after the keys.
    page.wait_for_timeout(1_000)
    page.get_by_test_id("editor-Run").click()


def test_an_analyst_logs_in_runs_a_report_and_sees_the_graph(page: Page, running: Running) -> None:
    """Nodes with their titles and relationships with their types are drawn; README shows the picture."""
    log_in(page, running)
    run(page, REPORT)
    page.locator("g.node").first.wait_for()
    # The layout moves for a few seconds; a later picture is a readable one.
    page.wait_for_timeout(4_000)
    SCREENSHOT.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENSHOT))
    captions = " ".join(page.locator("g.node").all_text_contents())

    assert page.locator("g.node").count() == 6
    assert page.locator("g.relationship").count() == 6
    assert "Berlin" in captions


def test_browser_runs_nothing_from_elsewhere(page: Page, running: Running) -> None:
    """What its page asks of other hosts (fonts, analytics) is stopped by the policy before it is sent."""
    answered: list[str] = []
    page.on("response", lambda response: answered.append(urlsplit(response.url).hostname or ""))
    log_in(page, running)
    page.wait_for_timeout(3_000)

    # "" are the data: addresses of its own pictures.
    assert set(answered) <= {"127.0.0.1", ""}


def test_a_wrong_password_stays_outside(page: Page, running: Running) -> None:
    """The form stays and no query runs."""
    page.goto(running.browser_url)
    page.get_by_test_id("username").fill(running.user)
    page.get_by_test_id("password").fill("wrong-password")
    page.get_by_test_id("connect").click()
    page.get_by_text("unauthorized", exact=False).first.wait_for()

    assert page.get_by_test_id("password").is_visible()
