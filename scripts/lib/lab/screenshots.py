"""Pictures of the dashboard for the pages: what Chromium shows of a running lab."""
import pathlib
import sys

from commands import LabError, Process

# A picture, the place of the page that it is of, when all of it is there, and what stands at its upper edge.
PICTURES = (
    ("overview", "overview", "document.querySelector('main table tbody tr') !== null", "body"),
    ("rules", "rules", "document.querySelector('main table tbody tr') !== null", "body"),
    ("rule", "rule/bots?range=10m", "document.querySelector('canvas.cells')?.width > 0 && document.querySelector('.plot canvas') !== null", "main .panel:nth-of-type(2)"),
    ("builder", "builder?rule=bots", "document.querySelector('.editor') !== null && document.querySelector('main').textContent.includes('it compiles')", "body"),
)
SIZE = (1280, 800)
SMOKE = pathlib.Path(__file__).resolve().parents[3] / "tests/smoke"


def take(link, folder, scratch):
    """Writes FOLDER/NAME.png of each picture, by a link that lets one browser in."""
    sys.path.insert(0, str(SMOKE))
    from browser import Browser  # pylint: disable=import-outside-toplevel
    started = []

    def start(command, log):
        started.append(Process(command, scratch, log.removesuffix(".log")))

    try:
        browser = Browser(start, scratch)
    except FileNotFoundError as missing:
        raise LabError(f"no {missing.filename}; scripts/setup browser installs it") from None
    try:
        browser.show_as(*SIZE)
        browser.load(link)
        browser.wait_for("a snapshot", "return document.querySelector('.box') !== null")
        for name, place, ready, top in PICTURES:
            browser.run("location.hash = arguments[0]", f"#/{place}")
            browser.wait_for(name, f"return {ready}")
            browser.run_later("setTimeout(arguments[0], 1500)")
            browser.run("document.querySelector(arguments[0])?.scrollIntoView()", top)
            browser.screenshot(folder / f"{name}.png")
    finally:
        browser.close()
        for process in started:
            process.stop()
