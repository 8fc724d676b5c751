"""V3: how long a page takes before sluiced: Overview from nothing, and what is clicked where there are many rules.

    page_times.py SLUICED FAKE_DATAPLANE SLUICECTL [--rules 10000] [--rounds 9]

Chromium on loopback, its cache cold in each round. Prints medians and worst: first paint; Overview with its numbers (the first
bar is 500 ms, the goal 200); of Rules, from a click or key to the next frame and to the rows that it asks for (100 ms, 50).
"""
import argparse
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "smoke"))
from browser import Browser  # noqa: E402
from daemon_box import DaemonBox, wait_until  # noqa: E402
from live_pages import rules  # noqa: E402

# Instants since the navigation began: what is on the page is painted by the second frame after it came.
WATCH = """
window.times = {};
const painted = (name) => requestAnimationFrame(() => requestAnimationFrame(() => (window.times[name] ??= performance.now())));
addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
  if (document.querySelector('.tiles .num')) { painted('overview'); }
}).observe(document.body, {childList: true, subtree: true}));
window.inputs = [];
new PerformanceObserver((list) => { for (const one of list.getEntries()) { window.inputs.push(one.duration); } })
  .observe({type: 'event', durationThreshold: 16});
"""
# From an action to the rows that it asks for, painted.
UNTIL_ROWS = """
const [act, done] = [arguments[0], arguments[arguments.length - 1]];
const first = () => document.querySelector('table.rules tbody th')?.innerText ?? '';
const before = first();
const begin = performance.now();
const seen = new MutationObserver(() => {
  if (first() !== before && first() !== '') {
    seen.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begin)));
  }
});
seen.observe(document.querySelector('main'), {childList: true, subtree: true, characterData: true});
if (act === 'sort') { document.querySelector('table.rules th:first-child button').click(); }
if (act === 'next') { [...document.querySelectorAll('.pager button')].find((one) => one.innerText === 'Next').click(); }
"""


def link(programs, box):
    said = subprocess.run([programs, "--socket", box.socket, "--json", "dashboard", "--role", "view"], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(said.stdout)["url"]


def loads(browser, url):
    """-> ms of the first paint, and of Overview with its numbers."""
    browser.load("about:blank")
    browser.devtools("Network.clearBrowserCache")
    browser.load(url)
    browser.wait_for("the numbers", "return window.times.overview !== undefined")
    first = browser.run("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null")
    return first, browser.run("return window.times.overview")


def clicks(browser, rounds):
    """-> ms of each action, until its rows are there, and of each input until the next frame."""
    found = []
    for at in range(rounds):
        browser.run("location.hash = '#/rules?sort=id&order=asc'")
        browser.wait_for("the first page", "return document.querySelector('table.rules tbody th')?.innerText === 'r00000' && document.querySelector('table.rules.pending') === null")
        if at == 0:
            browser.run("window.inputs.length = 0")
        found.append(browser.run_later(UNTIL_ROWS, "sort"))
        found.append(browser.run_later(UNTIL_ROWS, "next"))
        browser.click("table.rules th:nth-child(2) button")
        browser.press("/", "r", "0", "Escape")
    return found, browser.run("return window.inputs")


def told(what, numbers):
    print(f"{what}: median {statistics.median(numbers):.0f} ms, worst {max(numbers):.0f} ms, of {len(numbers)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for program in ("sluiced", "fake_dataplane", "sluicectl"):
        parser.add_argument(program)
    parser.add_argument("--rules", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    programs = [os.path.abspath(one) for one in (asked.sluiced, asked.fake_dataplane, asked.sluicectl)]
    box, folder, started = DaemonBox(*programs), pathlib.Path(tempfile.mkdtemp(prefix="sluice-times-")), []
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        (box.folder / "sluice.yaml").write_text(f'version: 1\nweb: {{listen: "127.0.0.1:{port}"}}\n')
        box.start_dataplane("--rate", 1_000_000)
        box.start_sluiced("--config", box.folder / "sluice.yaml")
        wait_until("the dataplane", box.connected)
        applied = box.put_rules(rules(asked.rules))
        assert applied.status == 200, applied.text
        browser = Browser(lambda command, _: started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)), folder)
        try:
            browser.before_each_page(WATCH)
            browser.show_as(1280, 800)
            paints = [loads(browser, link(programs[2], box)) for _ in range(asked.rounds)]
            until_rows, inputs = clicks(browser, asked.rounds)
        finally:
            browser.close()
        print(f"{asked.rules} rules, load {os.getloadavg()[0]:.1f}")
        told("first paint", [first for first, _ in paints if first is not None])
        told("Overview with its numbers", [overview for _, overview in paints])
        told("Rules, until the rows asked for", until_rows)
        told("Rules, until the next frame", inputs or [0])
    finally:
        for process in started:
            process.terminate()
            process.wait()
        box.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
