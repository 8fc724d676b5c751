"""The dashboard's page in Chromium, before the real programs: what its tests share."""
import json
import re

from browser import Browser, free_port
from page_case import WATCH
from page_work import WorkCase

# Letters that act instead of being seen, as text/visible.ts has them.
HIDDEN = r"/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u"
OPENED = """
for (const one of document.querySelectorAll('main details:not([open])')) { one.open = true; }
for (const one of document.querySelectorAll('.cut[aria-expanded=false]')) { one.click(); }
return new Promise((done) => setTimeout(() => done(document.body.textContent
  + [...document.querySelectorAll('.editor')].map((one) => one.shadowRoot?.textContent ?? '').join(' ')
  + [...document.querySelectorAll('textarea, input')].map((one) => one.value).join(' ')), 60));
"""
# What somebody else's text may have become.
AMISS = f"""
const hidden = {HIDDEN};
const texts = [document.body.textContent.replace(/\\n/g, ''), document.title,
  ...[...document.querySelectorAll('[title], [aria-label]')].flatMap((one) => [one.title, one.ariaLabel ?? ''])];
return {{
  hit: window.hit ?? null, scripts: document.scripts.length, breaches: window.seen.breaches, errors: window.seen.errors,
  elements: [...document.querySelectorAll('main img, iframe, object, embed, main link, main style, main base, main script, main [onload], main [onerror]')].map((one) => one.outerHTML),
  links: [...document.querySelectorAll('a')].map((one) => one.getAttribute('href')).filter((one) => !/^#/.test(one)),
  hidden: texts.filter((one) => hidden.test(one)).map((one) => one.slice(0, 200)),
  hosts: [...new Set(performance.getEntriesByType('resource').map((one) => new URL(one.name).host))].filter((one) => one !== location.host),
}};
"""
NOTHING = {"hit": None, "scripts": 1, "breaches": [], "errors": [], "elements": [], "links": [], "hidden": [], "hosts": []}


class RealPageCase(WorkCase):
    """Beside a case with a `box`."""

    def start_web(self, more=""):
        """sluiced with its dashboard on a loopback address."""
        self.web_port = free_port()
        config = self.box.folder / "web.yaml"
        config.write_text(f'version: 1\nweb: {{listen: "127.0.0.1:{self.web_port}"{more}}}\n')
        return self.box.start_sluiced("--config", str(config))

    def link(self, role):
        said = self.box.ctl("dashboard", "--role", role)
        self.assertEqual(said.returncode, 0, said.stderr)
        return re.search(r"http://127\.\S+", said.stdout)[0]

    def browse(self, role="view"):
        """A page with a session and a snapshot."""
        self.browser = Browser(self.box.start, self.box.folder)
        self.addCleanup(self.browser.close)
        self.browser.before_each_page(WATCH)
        self.browser.show_as(1280, 800)
        self.browser.load(self.link(role))
        self.browser.wait_for("a snapshot", "return document.querySelector('.box') !== null")
        return self.browser

    def open(self, fragment, ready, *arguments):
        self.browser.run("location.hash = arguments[0]", "#/" + fragment)
        self.browser.wait_for(fragment[:60], f"return ({ready})", *arguments)

    def told(self, path):
        status, text = self.box.api("GET", path)
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def shown_text(self):
        """With everything opened that was cut or folded."""
        return self.browser.run(OPENED)

    def nothing_amiss(self, but=()):
        self.assertEqual(self.browser.run(AMISS), NOTHING)
        self.assertEqual([entry["message"] for entry in self.browser.console() if entry["level"] in ("SEVERE", "WARNING")
                          and not any(word in entry["message"] for word in but)], [])
