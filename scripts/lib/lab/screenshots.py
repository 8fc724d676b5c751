"""Pictures of the dashboard for the pages: what Chromium shows of a running lab."""
import pathlib
import sys

from commands import LabError, Process

SCREENS = ("overview", "rules")
SIZE = (1280, 800)
SMOKE = pathlib.Path(__file__).resolve().parents[3] / "tests/smoke"


def take(link, folder, scratch):
    """Writes FOLDER/SCREEN.png of each screen, by a link that lets one browser in."""
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
        for screen in SCREENS:
            browser.run("location.hash = arguments[0]", f"#/{screen}")
            browser.wait_for(screen, "return document.querySelector('main table tbody tr') !== null")
            browser.run_later("setTimeout(arguments[0], 1500)")
            browser.screenshot(folder / f"{screen}.png")
    finally:
        browser.close()
        for process in started:
            process.stop()
