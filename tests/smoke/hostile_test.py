"""What others send through a real box, and all that they may name themselves by, is text on every screen, in every tooltip and
file of the dashboard: whole, and nothing of it runs.

    hostile_test.py DATAPLANE SLUICED SLUICECTL

Wants root, chromium and chromium-driver (scripts/test browser installs them).
"""
import contextlib
import csv
import http.client
import io
import json
import socket
import threading
import urllib.parse

from box_case import HostsCase, main
from hostile_frames import is_named, PLACES, read_in, round_of
from http_hosts import within
from page_case import HOSTILE
from programs import wait_until
from real_page import RealPageCase

LONGEST = 900  # bytes: a head that fits into a frame
TEXTS = [text[:LONGEST] for text, _ in HOSTILE]
MARKUP = "<img src=x onerror=window.hit=1>"
KEY = "0123456789abcdef-of-the-proxy"
DESCRIBING = [text for text in TEXTS if "\x1b" not in text]  # rule files take no controls
EVERY = 1  # seconds between two rounds of all texts


def rules():
    """A rule for each place, described by the texts; a second request of a key at once is refused."""
    text = "version: 1\nrules:\n"
    for at, (place, (field, when)) in enumerate(PLACES.items()):
        described = json.dumps("\n".join([*DESCRIBING[at::len(PLACES)], MARKUP]), ensure_ascii=False)
        per = "" if place == "name" else f"    per: {'handshake' if place == 'sni' else 'request'}\n"
        text += (f"  - id: {place}\n    mode: enforce\n    description: {described}\n    when: {when}\n    key: ['{field}']\n{per}"
                 "    limits: [{algorithm: token_bucket, rate: 6/m, burst: 1}]\n    on_exceed: {action: drop}\n"
                 "    events: [limit_start]\n    heatmap: on\n")
    return text


class Sender(threading.Thread):
    """All texts in all places, again and again, from the outside host."""

    def __init__(self, namespace):
        super().__init__(daemon=True)
        self.over, self.rounds = threading.Event(), 0
        with within(namespace):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            self.socket.bind(("eth0", 0))

    def run(self):
        while not self.over.wait(EVERY):
            for frame in round_of(TEXTS, self.rounds):
                self.socket.send(frame)
            self.rounds += 1

    def close(self):
        self.over.set()
        self.join()
        self.socket.close()


class Hostile(RealPageCase, HostsCase):
    def setUp(self):
        super().setUp()
        self.start_between("af_packet")
        secret = self.box.folder / "secret"
        secret.write_text(KEY + "\n")
        secret.chmod(0o600)
        self.start_web(", behind_proxy: [{address: 127.0.0.1, secret_file: secret, secret_header: X-Key}]")
        file = self.box.folder / f"{MARKUP}.yaml"
        file.write_text(rules())
        done = self.box.ctl("apply", str(file))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.read = {}  # by rule, by text: its key
        sender = Sender(self.hosts.outside)
        sender.start()
        self.addCleanup(sender.close)

    def named(self, method, path, body, user, **more):
        """A call in the name of whomever the proxy says that it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.web_port, timeout=60)
        connection.request(method, path, json.dumps(body), {
            "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin", "X-Key": KEY, "X-Sluice-User": user, "X-Sluice-Role": "operate", **more})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def events_of(self, rule):
        return {event["key"] for event in self.told(f"/v1/events?rule={rule}&newest=1000")["events"]}

    def test_every_screen_tooltip_and_file(self):
        for place, read in read_in(self.box.sluicectl, self.box.folder, TEXTS).items():
            self.assertGreater(len(read), 2 if place == "sni" else 20, place)
            self.read[place] = {text: wait_until(f"an event of {said[:50]} as {place}", lambda place=place, said=said: next(
                (key for key in self.events_of(place) if is_named(place, said, key)), None)) for text, said in read.items()}
        self.fail_to_log_in()
        self.browse("admin")
        with self.subTest("judge_files"):  # before the bans, which leave a key without new events
            self.judge_files()
        self.ban_with_reasons()
        for judge in (self.judge_lists, self.judge_rules, self.judge_keys, self.judge_found, self.judge_texts, self.judge_trace, self.judge_others,
                      self.judge_callers):
            with self.subTest(judge.__name__):
                judge()

    def ban_with_reasons(self):
        """Some keys of each rule, with a text as reason, in the name of another one."""
        for place, read in self.read.items():
            for text, key in list(read.items())[:6]:
                reason = text[:200]
                status, told = self.named("POST", f"/v1/rules/{place}/bans", {"keys": [key], "for": "1h", "reason": reason}, MARKUP)
                self.assertIn(status, (200, 422), told)  # what cannot stand in a reason is refused

    def fail_to_log_in(self):
        """By a token, and as a user of a proxy that is none; of many such refusals few are answered."""
        for text in TEXTS:
            user = text if text.isascii() and text.isprintable() else "eve"
            with contextlib.suppress(http.client.RemoteDisconnected):
                status, told = self.named("POST", "/v1/session", {"token": text}, user, **{"X-Key": "wrong"})
                self.assertIn(status, (400, 401), told)
        audit = (self.box.folder / "policy" / "audit.log").read_text()
        self.assertIn("refused", audit)
        self.assertEqual([letter for letter in "\u202e\u2066\u200b\x1b\0" if letter in audit], [])

    def judge(self, *wanted):
        """All of these texts stand on the page, and nothing has become of them."""
        shown = self.shown_text()
        self.assertEqual([text for text in wanted if text not in shown], [])
        self.nothing_amiss()

    def judge_lists(self):
        self.open("overview", "document.querySelectorAll('table.events tbody tr').length > 0")
        wait_until("the busiest rules", self.shows_the_busiest)
        self.nothing_amiss()
        self.open("rules", "document.querySelectorAll('table.rules tbody tr').length === arguments[0]", len(PLACES))
        self.judge(*PLACES)
        self.open("events", "document.querySelectorAll('table.events tbody tr').length === 50")
        self.judge("events")
        bans = self.told("/v1/bans?most=1000")["bans"]
        self.assertGreater(len(bans), 20)
        self.open("bans", "document.querySelectorAll('table.bans tbody tr').length > 20")
        self.judge(MARKUP, *(ban["key"] for ban in bans))

    def shows_the_busiest(self):
        """The five that GET /v1/live has now: other rules stand on this screen only while one of the newest events is theirs."""
        shown = self.shown_text()
        rows = self.told("/v1/live")["rules"]["rows"]
        return len(rows) == 5 and all(row["id"] in shown for row in rows)

    def judge_rules(self):
        for place, read in self.read.items():
            with self.subTest(place):
                self.open(f"rule/{place}", "document.querySelector('canvas.cells')?.width > 0 && document.querySelectorAll('table.events tbody tr').length > 1")
                self.browser.run("for (const one of document.querySelectorAll('main details')) { one.open = true; }")
                if len(read) > 3:  # of fewer none may be live, or watched
                    wait_until("live keys", self.lists_live_keys)
                self.judge(MARKUP, f"id: {place}")
                if len(read) > 3:
                    wait_until("groups of a cell by name", self.opens_a_cell)
                    self.shown_text()
                    self.assertGreater(self.browser.run("return document.querySelectorAll('section.cell tbody tr').length"), 20)
                self.nothing_amiss(("404",))  # of a column that nobody knows any more

    def lists_live_keys(self):
        return self.browser.run("const found = document.querySelectorAll('main details table tbody tr').length > 1;"
                                "if (!found) { [...document.querySelectorAll('main details button')].find((one) => one.innerText === 'From the first')?.click(); } return found")

    def opens_a_cell(self):
        """The row of those with nothing left, in the newest column: of others no names are known."""
        self.browser.run("document.querySelectorAll('canvas.cells')[1].focus()")
        self.browser.press("\ue010", "\ue007")
        return self.browser.run("return new Promise((done) => setTimeout(() => done(document.querySelector('section.cell tbody tr') !== null), 300))")

    def judge_keys(self):
        for place, read in self.read.items():
            for text, key in read.items():
                words = urllib.parse.urlencode({"key": key})
                self.open(f"key/{place}?{words}", "document.querySelector('.verdict')?.textContent.includes(arguments[0].slice(0, 20)) ?? false", key)
                self.judge(key)
        for text in TEXTS:  # what somebody was made to open
            self.open("key/" + urllib.parse.quote(text, safe="") + "?" + urllib.parse.urlencode({"key": text}), "document.querySelector('.key-screen') !== null")
            self.nothing_amiss(("404", "400", "422"))

    def judge_found(self):
        for text in TEXTS:
            self.open("find/" + urllib.parse.quote(text, safe=""), "/Found|Not found out/.test(document.querySelector('main').textContent)")
            self.shown_text()
            self.nothing_amiss(("404", "400", "422"))
        self.open("rules?" + urllib.parse.urlencode({"filter": MARKUP}), "document.querySelector('main').textContent.includes('matches')")
        self.judge()

    def judge_texts(self):
        self.open("sets", "document.querySelector('.editor') !== null && document.querySelectorAll('main table tbody tr').length > 0")
        self.judge(f"{MARKUP}.yaml")
        for place in PLACES:
            self.open(f"builder?rule={place}", "document.querySelector('.editor') !== null && document.querySelector('main').textContent.includes('it compiles')")
            self.nothing_amiss()
        for text in TEXTS:
            self.open("builder?" + urllib.parse.urlencode({"condition": f"http.host eq {json.dumps(text, ensure_ascii=False)}"}), "document.querySelector('.editor') !== null")
            self.nothing_amiss()

    def judge_trace(self):
        self.open("trace", "document.querySelector('.trace-form') !== null")
        self.put("main select", "all")
        self.press("Begin")
        self.browser.wait_for("packets", "return document.querySelectorAll('table.packets tbody tr').length > 50")
        self.judge()
        packets = self.download("Download as pcapng", "*.pcapng")
        self.assertEqual(packets[:4], b"\x0a\x0d\x0d\x0a")
        self.assertIn(b"window.hit=1", packets)
        self.press("End")

    def judge_others(self):
        for screen in ("playground", "workers", "ports", "key", "builder"):
            self.open(screen, "document.querySelector('main .panel, main section') !== null")
            self.nothing_amiss()

    def download(self, words, pattern):
        for old in self.box.folder.glob(pattern):
            old.unlink()
        self.browser.devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.box.folder))
        self.press(words)
        wait_until("the file", lambda: list(self.box.folder.glob(pattern)))
        [file] = self.box.folder.glob(pattern)
        return file.read_bytes()

    def judge_files(self):
        self.open("events", "document.querySelectorAll('table.events tbody tr').length === 50")
        rows = list(csv.DictReader(io.StringIO(self.download("Download as CSV", "*.csv").decode("utf-8-sig"))))
        for place, read in self.read.items():
            told = {row["key"].removeprefix("'") for row in rows if row["rule"] == place}
            self.assertEqual(set(read.values()) - told, set(), place)
        self.assertEqual([row["key"] for row in rows if row["key"][:1] in tuple("=+-@")], [])
        self.nothing_amiss()

    def judge_callers(self):
        """A name that only a proxy knows, and a link that is none."""
        self.browser.load("about:blank")
        self.browser.run("return 1")
        self.browser.devtools("Network.enable")
        self.browser.devtools("Network.setExtraHTTPHeaders", headers={"X-Key": KEY, "X-Sluice-User": MARKUP, "X-Sluice-Role": "view"})
        self.browser.load(f"http://127.0.0.1:{self.web_port}/#secret=" + urllib.parse.quote(MARKUP))
        self.browser.wait_for("a page", "return document.querySelector('.caller, .lock form') !== null")
        self.nothing_amiss(("401", "400"))


if __name__ == "__main__":
    main()
