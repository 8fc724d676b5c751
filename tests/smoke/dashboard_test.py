"""The dashboard in front of a real box: what others send through it is text there, whole, and nothing else.

    dashboard_test.py DATAPLANE SLUICED SLUICECTL

Wants root, chromium and chromium-driver (scripts/test browser installs them).
"""
import json
import re

from box_case import main
from browser import Browser, free_port
from http_case import HttpCase, request
from page_case import WATCH
from programs import wait_until

# Of a user agent; each is a key of the rule, and so of its events.
AGENTS = ["<script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "\"'><svg onload=window.hit=1>", "javascript:window.hit=1",
          "</title></style></script><script>window.hit=1</script>", "{{constructor.constructor('window.hit=1')()}}", "${window.hit=1}",
          "<a href=//evil.example>a</a>", "&lt;b&gt;&#60;", "=cmd|' /C calc'!A0", "%3Cscript%3E", "\u202egnp.exe", "\u2066b\u2069",
          "zero\u200bwidth", "x" * 200]
REASON = "<img src=x onerror=window.hit=1>"
RULES = """version: 1
rules:
  - {id: agents, mode: enforce, when: l4.dport eq 80, key: [http.user_agent], per: request, events: [limit_start],
     description: "<script>window.hit=1</script>", limits: [{algorithm: fixed_window, count: 1, window: 1d}], on_exceed: {action: drop}}
"""


class Dashboard(HttpCase):
    def setUp(self):
        super().setUp()
        self.start_between("af_packet")
        port = free_port()
        config = self.box.folder / "web.yaml"
        config.write_text(f'version: 1\nweb: {{listen: "127.0.0.1:{port}"}}\n')
        self.box.start_sluiced("--config", str(config))
        self.serve()
        self.apply(RULES)

    def browse(self, role="view"):
        browser = Browser(self.box.start, self.box.folder)
        self.addCleanup(browser.close)
        browser.before_each_page(WATCH)
        said = self.box.ctl("dashboard", "--role", role)
        self.assertEqual(said.returncode, 0, said.stderr)
        browser.load(re.search(r"http://127\.\S+", said.stdout)[0])
        browser.wait_for("a snapshot", "return document.querySelector('.box') !== null")
        return browser

    def send_all(self):
        """Each agent twice: the second request is refused, and an event tells of it."""
        for agent in AGENTS:
            self.ask(request(headers=[f"User-Agent: {agent}"]).encode()).answer()
            self.ask(request(headers=[f"User-Agent: {agent}"]).encode())
        wait_until("an event of each", lambda: len(self.keys_of_events()) == len(AGENTS))

    def told(self, path):
        status, text = self.box.api("GET", path)
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def keys_of_events(self):
        return {event["key"] for event in self.told("/v1/events")["events"] if event.get("key")}

    def nothing_amiss(self, browser):
        seen = browser.run("return window.seen")
        self.assertEqual((seen["breaches"], seen["errors"]), ([], []))
        self.assertEqual(browser.run("return [window.hit ?? null, document.scripts.length]"), [None, 1])
        hosts = browser.run("return performance.getEntriesByType('resource').map((e) => new URL(e.name).host)")
        self.assertEqual(set(hosts), {browser.run("return location.host")})

    def shown_text(self, browser):
        return browser.run("for (const b of document.querySelectorAll('.cut[aria-expanded=false]')) { b.click(); }"
                           "return new Promise((done) => setTimeout(() => done(document.body.textContent), 50))")

    def test_what_is_sent_through_the_box_is_text_on_every_screen(self):
        self.send_all()
        done = self.box.ctl("key", "ban", "agents", AGENTS[0], "--for", "1h", "--reason", REASON)
        self.assertEqual(done.returncode, 0, done.stderr)
        browser = self.browse()
        for screen in ("overview", "rules"):
            browser.run("location.hash = arguments[0]", f"#/{screen}")
            browser.wait_for("the rule", "return document.querySelector('main').textContent.includes('agents')")
            self.nothing_amiss(browser)
        browser.run("location.hash = '#/overview'")
        newest = [event["key"] for event in self.told("/v1/events")["events"] if event.get("key")][-10:]
        wait_until("the newest events to be shown", lambda: all(
            key in self.shown_text(browser) for key in newest if key.isascii() and key.isprintable()))
        for hidden in "\u202e\u2066\u2069\u200b":
            self.assertNotIn(hidden, self.shown_text(browser))
        self.nothing_amiss(browser)

    def test_numbers_of_the_box_are_on_the_page(self):
        self.send_all()
        browser = self.browse()
        wait_until("the refused requests to be counted", lambda: self.counts("agents")[1] >= len(AGENTS))
        live = self.told("/v1/live?view=rules")
        self.assertEqual([row["id"] for row in live["rules"]["rows"]], ["agents"])
        browser.run("location.hash = '#/rules'")
        browser.wait_for("the rule", "return document.querySelector('table.rules tbody tr') !== null")
        [row] = self.told("/v1/live?view=rules")["rules"]["rows"]
        self.assertEqual(row["live_keys"], len(AGENTS))
        cells = lambda: browser.text("table.rules tbody tr").split()  # noqa: E731
        wait_until("the row to have the box's numbers", lambda: "enforce" in cells() and str(len(AGENTS)) in cells())
        self.nothing_amiss(browser)

    def test_keys_are_limited_while_they_are_refused_and_a_second_longer(self):
        limited = lambda: self.told("/v1/live?view=rules")["rules"]["rows"][0]["limited_now"]  # noqa: E731
        self.assertEqual(limited(), 0)

        def all_are():
            for agent in AGENTS:
                self.ask(request(headers=[f"User-Agent: {agent}"]).encode())
            return limited() == len(AGENTS)

        wait_until("all agents to be limited", all_are)
        wait_until("none to be", lambda: limited() == 0)

    def test_a_dataplane_that_is_gone_is_said(self):
        browser = self.browse()
        self.box.kill(self.box.running[0])
        browser.wait_for("the page to say so", "return /no dataplane/i.test(document.body.textContent)")
        self.nothing_amiss(browser)


if __name__ == "__main__":
    main()
