"""Neo4j Browser of the managed server, driven as an analyst drives it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, sync_playwright
from rich.console import Console

from amos_graph.api.store import operator
from amos_graph.cli import reports
from amos_graph.commands.dictionary import prepare
from amos_graph.graph.local import LocalNeo4j, Running
from amos_graph.graph.procedures import read_header
from amos_graph.graph.transactions import Graph, connect
from amos_graph.queries.recall import recall
from amos_graph.queries.report import browser_params, run_report
from amos_graph.settings import Settings
from amos_graph.upkeep.demo import QUESTIONS, load_story
from amos_graph.upkeep.sending import in_process
from amos_graph.upkeep.tables import WIDTH, packet_view
from tests.server import SMALL

# Drawing without a graphics card takes its time on a busy machine.
pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[2]
#: `make test-browser` takes the pictures for the documents; others leave the checkout as it is.
IMAGES = ROOT / (os.environ.get("AMOS_PICTURES") or ".amos-test/images")
_WAIT_MS = 60_000
_DROP = """([text, name]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], name, {type: 'text/plain'}));
  const drag = (kind, target) =>
    target.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: transfer}));
  const editor = document.querySelector('.monaco-editor');
  drag('dragenter', editor);
  drag('dragover', editor);
  setTimeout(() => drag('drop', document.elementFromPoint(700, 40)), 700);
}"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A managed server that holds the demo's story."""
    home = tmp_path_factory.mktemp("browser")
    server = LocalNeo4j(home, options=SMALL)
    started = server.start()
    graph = Graph(connect(started.uri, started.user, started.password))
    settings = Settings.model_validate({"home": home, "workspace": "demo"})
    prepare(graph, settings)
    load_story(in_process(operator(graph, settings)))
    graph.close()
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
    """Replace what stands in the editor by a statement, and run it."""
    page.locator(".monaco-editor").first.click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(statement)
    # The button takes what the editor has told it; that comes a moment after the keys.
    page.wait_for_timeout(1_000)
    page.get_by_test_id("editor-Run").click()
    page.wait_for_timeout(2_000)


def drop(page: Page, path: Path) -> None:
    """Drag a file onto Browser, as an analyst does with the style."""
    page.evaluate(_DROP, [path.read_text(encoding="utf-8"), path.name])
    page.wait_for_timeout(1_500)


def statement(name: str) -> str:
    """The text of a favourite."""
    return (ROOT / "docs" / "browser" / f"{name}.cypher").read_text(encoding="utf-8")


def draw(page: Page, text: str, picture: str) -> str:
    """Run a favourite, take its picture once the layout has come to rest, and return the captions."""
    run(page, text)
    page.locator("g.node").first.wait_for()
    # The layout moves for a few seconds; a later picture is a readable one.
    page.wait_for_timeout(8_000)
    page.screenshot(path=str(IMAGES / picture))
    return " ".join(page.locator("g.node").all_text_contents())


def test_an_analyst_logs_in_and_sees_the_memories(page: Page, running: Running) -> None:
    """The style is dropped in, a favourite is run, and titled nodes with typed links are drawn."""
    log_in(page, running)
    drop(page, ROOT / "docs" / "amos.grass")
    run(page, ':params {"shard": "default/demo"}')
    captions = draw(page, statement("first_look"), "browser.png")

    assert page.locator("g.node").count() > 20
    assert "Lena" in captions
    # Browser shortens the type of a link where the arrow is short, so the links are counted.
    assert page.locator("g.relationship").count() > 20


def test_an_analyst_sees_the_neighbourhood_of_a_person(page: Page, running: Running) -> None:
    """With the sample that stands in the favourite: the person, what is believed about her, and evidence."""
    text = statement("neighbourhood")
    log_in(page, running)
    drop(page, ROOT / "docs" / "amos.grass")
    run(page, text.splitlines()[1].removeprefix("// "))
    captions = draw(page, text, "neighbourhood.png")

    assert "Lena" in captions
    assert page.locator("g.node").count() > 5
    assert page.locator("g.relationship").count() > 5


def test_an_analyst_runs_a_report_with_its_sample(page: Page, running: Running) -> None:
    """A report's sample is pasted as parameters, its text is run, and its rows are those of the story."""
    header = read_header("report/believed_about")
    log_in(page, running)
    run(page, browser_params(header))
    run(page, header.text)
    page.get_by_text("story/", exact=False).first.wait_for(state="attached")
    page.wait_for_timeout(2_000)
    page.screenshot(path=str(IMAGES / "report.png"))
    shown = page.content()

    assert "story/preference/incidents-2" in shown
    assert "evidence_count" in shown


def test_a_packet_is_readable_as_the_demo_prints_it(page: Page, running: Running, tmp_path: Path) -> None:
    """The tables of one packet, as a terminal of a hundred columns shows them; README shows the picture."""
    graph = Graph(connect(running.uri, running.user, running.password))
    context = operator(graph, Settings.model_validate({"home": tmp_path, "workspace": "demo"}))
    packet = recall(context, {"cues": [QUESTIONS[0].text], "max_items": 2})
    graph.close()
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    console.rule(QUESTIONS[0].text)
    console.print(packet_view(packet))
    page.set_viewport_size({"width": 920, "height": 900})
    page.set_content(console.export_html(inline_styles=True))
    page.locator("pre").screenshot(path=str(IMAGES / "packet.png"))
    shown = page.locator("pre").inner_text()

    assert "phone call" in shown
    assert "direct_cue_match" in shown or "cue" in shown


def test_a_report_is_readable_in_a_terminal(
    page: Page, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `amos audit` prints on a terminal of a hundred columns; the analyst's guide shows the picture."""
    graph = Graph(connect(running.uri, running.user, running.password))
    params = read_header("report/believed_about").sample | {"limit": 2}
    report = run_report(graph, "believed_about", params)
    graph.close()
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True, highlight=False)
    monkeypatch.setattr(reports, "out", console)
    reports.print_rows(report)
    # A line that is longer than the terminal is wide is the terminal's to wrap.
    page.set_viewport_size({"width": 1040, "height": 900})
    page.set_content(console.export_html(inline_styles=True))
    page.locator("pre").screenshot(path=str(IMAGES / "audit.png"))
    shown = page.locator("pre").inner_text()

    assert "claim" in shown
    assert "evidence_count" in shown


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
