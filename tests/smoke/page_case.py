"""The dashboard's page in Chromium, before an API that stands in for sluiced's: what its tests share.

    X_test.py PAGE MODULES [short | TEST...]

PAGE is the folder that control/web/bundle.py has made, MODULES the stamp of modules.py, beside which is axe-core. Wants
chromium and chromium-driver.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from browser import Browser
from page_stand_in import SECRET, StandIn
from programs import wait_until

# Seen from the page's first instant on: breaches of its policy, what was thrown, tasks that were long.
WATCH = """
window.seen = {breaches: [], errors: [], long: []};
addEventListener('securitypolicyviolation', (e) => window.seen.breaches.push(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
addEventListener('error', (e) => window.seen.errors.push(String(e.message)));
addEventListener('unhandledrejection', (e) => window.seen.errors.push(String(e.reason)));
new PerformanceObserver((list) => { for (const e of list.getEntries()) { window.seen.long.push(Math.round(e.duration)); } })
  .observe({type: 'longtask', buffered: true});
"""
LONG = "9" * 3000
# What others may send, and how it stands on the page.
HOSTILE = [(text, text) for text in (
    "<script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "\"'><svg onload=window.hit=1>",
    "javascript:window.hit=1", "</title></style></script><script>window.hit=1</script>", "{{constructor.constructor('window.hit=1')()}}",
    "${window.hit=1}", "x{background:url(//evil.example/a)}", "<iframe srcdoc='<script>top.hit=1</script>'>", "<a href=//evil.example>a</a>",
    "<link rel=stylesheet href=//evil.example/a.css>", "__proto__", "constructor", "&lt;b&gt;&#60;", "=cmd|' /C calc'!A0", "%3Cscript%3E",
    LONG)] + [
    ("a\u202egnp.exe", "a\\u202egnp.exe"), ("a\u2066b\u2069", "a\\u2066b\\u2069"), ("zero\u200bwidth\u200d\ufeff", "zero\\u200bwidth\\u200d\\ufeff"),
    ("\x1b[31mred\x00\r\n\t", "\\u001b[31mred\\u0000\\r\\n\\t"), ("soft\u00adhy\u2028phen", "soft\\u00adhy\\u2028phen"),
    ("tag\U000e0041", "tag\\u{e0041}"), ("שלום עולם", "שלום עולם")]

class PageCase(unittest.TestCase):
    programs = []

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-page-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.browser = Browser(cls.start, cls.folder)
        cls.addClassCleanup(cls.browser.close)
        cls.browser.before_each_page(WATCH)

    @classmethod
    def start(cls, command, log):
        with open(cls.folder / log, "wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        cls.addClassCleanup(process.wait, 10)
        cls.addClassCleanup(process.terminate)
        return process

    def setUp(self):
        self.browser.load("about:blank")
        self.browser.show_as(1280, 800)
        self.browser.console()

    def begin(self, rules=5, **members):
        stand_in = StandIn(self.programs[0], rules)
        vars(stand_in).update(members)
        self.addCleanup(lambda: stand_in.tokens is not None and stand_in.stop())
        return stand_in

    def enter(self, stand_in, fragment=f"#secret={SECRET}"):
        """The page with a session and a snapshot."""
        self.browser.load(stand_in.url + fragment)
        self.browser.wait_for("a snapshot", "return document.querySelector('.box') !== null")

    def show(self, screen):
        self.browser.run("location.hash = arguments[0]", f"#/{screen}")
        self.browser.wait_for(screen, "return document.querySelector('nav a[aria-current]')?.innerText.toLowerCase() === arguments[0]"
                              " && document.querySelector('main table') !== null"
                              " && (arguments[0] !== 'rules' || document.querySelector('table.rules tbody tr') !== null)", screen)

    def open(self, screen, ready, *arguments, words=""):
        """A screen, once `ready` (a script) says that it shows what is meant."""
        self.browser.run("location.hash = arguments[0]", f"#/{screen}{words}")
        self.browser.wait_for(screen, "return document.querySelector('nav a[aria-current]')?.textContent.toLowerCase() === arguments[0]"
                              f" && ({ready})", screen, *arguments)

    def downloaded(self, begin, ending):
        """Bytes of the file that the browser gets when `begin` is called."""
        for old in self.folder.glob(f"*.{ending}"):
            old.unlink()
        self.browser.devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.folder))
        begin()
        wait_until("the file", lambda: list(self.folder.glob(f"*.{ending}")))
        [file] = self.folder.glob(f"*.{ending}")
        return file.name, file.read_bytes()

    def press_button(self, words):
        self.browser.wait_for(f"the button {words}", "const b = [...document.querySelectorAll('main button')].find((b) => b.textContent.startsWith(arguments[0]));"
                              "b?.click(); return b !== undefined", words)

    def nothing_amiss(self, but=()):
        seen = self.browser.run("return window.seen")
        self.assertEqual((seen["breaches"], seen["errors"]), ([], []))
        self.assertEqual([entry["message"] for entry in self.browser.console()
                          if entry["level"] in ("SEVERE", "WARNING") and not any(word in entry["message"] for word in but)], [])
        return seen

    def shown_text(self):
        """With everything opened that was cut."""
        return self.browser.run("for (const b of document.querySelectorAll('.cut[aria-expanded=false]')) { b.click(); }"
                                "return new Promise((done) => setTimeout(() => done(document.body.textContent), 50))")

    def judge(self, where, shown, least):
        self.assertGreaterEqual(self.shown_text().count(shown), least, where)
        self.assertEqual(self.browser.run(
            "return [window.hit ?? null, document.scripts.length, document.querySelectorAll('main img, iframe, object, embed, main link, main style, main [style*=evil]').length]"),
            [None, 1, 0])
        self.assertEqual(self.browser.run("return performance.getEntriesByType('resource').map((e) => new URL(e.name).host)"
                                          ".filter((host) => host !== location.host)"), [])

    def judge_screen(self, name, width):
        if shots := os.environ.get("SLUICE_SCREENSHOTS"):
            self.browser.screenshot(pathlib.Path(shots) / f"{name}.png")
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)

    def judge_access(self):
        axe = (pathlib.Path(pathlib.Path(self.programs[1]).read_text().strip()) / "node_modules/axe-core/axe.min.js").read_text()
        self.browser.run(f"if (!window.axe) {{ {axe} }}")
        found = self.browser.run_later("const done = arguments[arguments.length - 1];"
                                       "axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations))")
        self.assertEqual([(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")], [])


def main(short=()):
    """`short`: names of the tests that a run of all tests has of a file; scripts/test browser has the rest too."""
    PageCase.programs = sys.argv[1:3]
    names = short if sys.argv[3:] == ["short"] else sys.argv[3:]
    unittest.main(module="__main__", argv=[sys.argv[0], *names], verbosity=2)
