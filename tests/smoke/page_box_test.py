"""The screens Trace, Workers and Ports of the dashboard, and the frame around many screens, in Chromium.

    page_box_test.py PAGE MODULES [short | TEST...]
"""
import json
import shutil
import subprocess

from page.traces import packet
from page.workers_ports import port, worker
from page_case import HOSTILE, main, PageCase
from page_stand_in import SECRET
from programs import wait_until

SHORT = ("Trace.test_packets_as_they_pass_and_their_capture", "Frame.test_the_menu_and_the_keys_on_a_phone", "Numbers.test_workers_and_ports_count",
         "Hostile.test_texts_of_others_on_all_three_screens")
ROWS = "document.querySelectorAll('table.{0} tbody tr').length"


class Trace(PageCase):
    def begin_trace(self, stand_in, when=""):
        self.enter(stand_in)
        self.open("trace", "document.querySelector('.trace-form') !== null")
        if when:
            self.browser.type("[name=when]", when)
        self.press_button("Begin")

    def test_packets_as_they_pass_and_their_capture(self):
        stand_in = self.begin(packets=[packet(number, would_refuse="limit" if number == 3 else None) for number in range(130)], left_out=41, unread_fields=["http.host"])
        self.begin_trace(stand_in, "udp.dst_port = 53")
        self.browser.wait_for("packets", f"return {ROWS.format('packets')} === 100")
        [body] = [body for method, path, body in stand_in.asked if (method, path) == ("POST", "/v1/traces")]
        self.assertEqual(body, {"when": "udp.dst_port = 53", "dropped": True, "snap": 128})
        shown = self.browser.text("main")
        for words in ("Left out for want of room: 41", "No rule in force reads http.host", "192.0.2.1:4000 > 198.51.100.2:53 udp", "1.250 s"):
            self.assertIn(words, shown)
        name, content = self.downloaded(lambda: self.press_button("Download"), "pcapng")
        self.assertRegex(name, r"^sluice-trace-edge-1-\d{8}T\d{6}Z\.pcapng$")
        self.judge_capture(content)
        self.press_button("End")
        wait_until("the end", lambda: stand_in.trace is None)
        self.browser.wait_for("the word", "return document.querySelector('main').innerText.includes('of a trace that has ended')")
        self.nothing_amiss()

    def judge_capture(self, content):
        self.assertEqual((content[:4], len(content) % 4), (b"\x0a\x0d\x0d\x0a", 0))
        if not shutil.which("tshark"):
            return
        fields = ("frame.time_epoch", "frame.len", "frame.cap_len", "ip.src", "udp.dstport", "frame.comment")
        done = subprocess.run(["tshark", "-r", "-", "-T", "json", *(word for field in fields for word in ("-e", field))], input=content,
                              capture_output=True, check=True)
        rows = [row["_source"]["layers"] for row in json.loads(done.stdout)]
        self.assertEqual(len(rows), 130)
        self.assertEqual({name: value[0] for name, value in rows[0].items() if name not in ("frame.comment", "frame.time_epoch")},
                         {"frame.len": "43", "frame.cap_len": "43", "ip.src": "192.0.2.1", "udp.dstport": "53"})
        self.assertIn(".123456789", rows[0]["frame.time_epoch"][0])
        self.assertEqual(rows[3]["frame.comment"], ['drop limit rule=rule-00001 key=192.0.2.3 limit=0 wait="1.250 s" matched=rule-00001'])

    def test_a_fault_stands_at_its_column_and_a_role_at_the_button(self):
        stand_in = self.begin(fault="<b>no such field</b>")
        self.begin_trace(stand_in, "ip.src wrong 1")
        self.browser.wait_for("the fault", "return document.querySelector('.condition mark')?.innerText === 'w'")
        self.assertIn("at column 8: <b>no such field</b>", self.browser.text(".trace-form"))
        self.nothing_amiss(but=("422",))
        stand_in.who = {**stand_in.who, "role": "view", "verbs": {"trace": False}, "needs": {"trace": "operate"}}
        asked = len([1 for method, path, _ in stand_in.asked if path == "/v1/traces"])
        self.enter(stand_in, "?again")
        self.open("trace", "document.querySelector('.trace-form') !== null")
        self.press_button("Begin")
        self.assertIn("your role is view; this wants operate", self.browser.text(".trace-form"))
        self.assertEqual(len([1 for method, path, _ in stand_in.asked if path == "/v1/traces"]), asked)

    def test_it_ends_with_the_screen_and_with_the_page(self):
        stand_in = self.begin(packets=[packet()])
        for leave in (lambda: self.show("overview"), lambda: self.browser.load("about:blank")):
            self.begin_trace(stand_in)
            self.browser.wait_for("a packet", f"return {ROWS.format('packets')} === 1")
            leave()
            wait_until("the end", lambda: stand_in.trace is None)

    def test_a_trace_that_sluiced_has_ended_says_so(self):
        stand_in = self.begin(packets=[packet()])
        self.begin_trace(stand_in)
        self.browser.wait_for("a packet", f"return {ROWS.format('packets')} === 1")
        stand_in.trace = None
        self.browser.wait_for("the reason", "return document.querySelector('main').innerText.includes('Ended: the trace has ended')")
        self.assertEqual(self.browser.run(f"return {ROWS.format('packets')}"), 1)

    def test_a_thousand_a_second_are_bounded(self):
        stand_in = self.begin(packets_per_second=1000)
        self.begin_trace(stand_in)
        rounds = []
        for _ in range(4):
            self.browser.run("window.seen.long.length = 0")
            seen = getattr(stand_in, "traced", 0)
            wait_until("two thousand more", lambda before=seen: getattr(stand_in, "traced", 0) > before + 2000)
            rounds.append(max(self.browser.run("return window.seen.long"), default=0))
            self.assertLessEqual(self.browser.run("return document.querySelectorAll('*').length"), 4000)
        print("longest tasks, ms:", *rounds)
        self.assertLessEqual(min(rounds), 50)
        self.nothing_amiss()


class Numbers(PageCase):
    def test_workers_and_ports_count(self):
        stand_in = self.begin(worker_members={"table_full": 7}, port_members={"rx_missed": 3, "gone": True})
        self.enter(stand_in)
        self.open("workers", ROWS.format("workers") + " === 8 && document.querySelector('main').innerText.includes('of the last second')")
        cells = self.browser.run("return [...document.querySelectorAll('table.workers')].map((t) => [...t.querySelectorAll('tbody tr')].map((r) => r.innerText.replace(/\\s+/g, ' ')))")
        self.assertRegex(cells[0][0], r"^1 runs 0 [0-9.]+ [kM]pps 3[2-4]\.?\d? % .* uplink in q1$")
        self.assertRegex(cells[1][1], r"^2 (10\.0 ){8}80\.0 40 ns 50 %")
        self.assertIn("7", cells[2][0])
        self.open("ports", ROWS.format("ports") + " === 4")
        shown = self.browser.text("main")
        for words in ("gone", "receive ring full", "addresses, ports", "nothing is dropped early there"):
            self.assertIn(words, shown)
        stand_in.numbers_refusal = (503, {"title": "no dataplane", "detail": "its socket is gone"})
        self.browser.wait_for("old numbers", "return document.querySelector('.fresh.stale .old')?.innerText.includes('its socket is gone') ?? false")
        self.assertEqual(self.browser.run("return document.querySelector('.page.stale')"), None)
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('main .num')].filter((n) => !getComputedStyle(n).backgroundImage.includes('gradient')).length"), 0)
        self.nothing_amiss(but=("503",))

    def test_nothing_to_show_says_why(self):
        stand_in = self.begin(numbers_refusal=(503, {"title": "no dataplane", "detail": "its socket is gone"}))
        self.enter(stand_in)
        for screen in ("workers", "ports"):
            self.open(screen, "document.querySelector('main .empty')?.innerText.includes('its socket is gone')")
        stand_in.numbers_refusal, stand_in.ports_listed, stand_in.workers_listed = None, [], []
        self.open("workers", "document.querySelector('main .empty')?.innerText === 'The dataplane has no worker yet.'")
        self.open("ports", "document.querySelector('main .empty')?.innerText === 'The dataplane has named no port yet.'")

    def test_in_every_size_and_colour(self):
        stand_in = self.begin(packets=[packet(number) for number in range(20)], worker_members={"stalled_ms": 1200}, port_members={"rx_missed": 3})
        self.enter(stand_in)
        self.open("trace", "document.querySelector('.trace-form') !== null")
        for width, height in ((1280, 800), (390, 844)):
            for dark in (False, True):
                self.browser.show_as(width, height, dark)
                for screen in ("trace", "workers", "ports"):
                    with self.subTest(screen=screen, width=width, dark=dark):
                        self.open(screen, "document.querySelector('main .panel') !== null")
                        if screen == "trace":
                            self.press_button("Begin")
                        self.browser.wait_for("rows", "return document.querySelector('main tbody tr') !== null")
                        self.judge_screen(f"{screen}-{width}-{'dark' if dark else 'light'}", width)
                        if width == 1280 or not dark:
                            self.judge_access()
        self.nothing_amiss()


class Hostile(PageCase):
    def test_texts_of_others_on_all_three_screens(self):
        texts = [text for text, _ in HOSTILE]
        packets = [packet(port=text, dir=text, src=text, dst=text, verdict=text, reason=text, rule=text, key=text, limit=text, service=text, would_refuse=text, matched=[text])
                   for text in texts]
        stand_in = self.begin(packets=packets, unread_fields=texts)
        stand_in.workers_listed = [worker(number, 5, lanes=[text]) for number, text in enumerate(texts)]
        stand_in.ports_listed = [{**port("in", 5, kernel={"mode": text, "fail": text}, other_program={"mode": text, "owner": text}),
                                   **{name: text for name in ("pair", "side", "device", "driver", "hashes", "asked")}} for text in texts]
        self.enter(stand_in)
        for screen, least, ready in (("trace", 9, ROWS.format("packets")), ("workers", 1, ROWS.format("workers") + " / 4"), ("ports", 6, ROWS.format("ports") + " / 2")):
            self.open(screen, "document.querySelector('main .panel') !== null")
            if screen == "trace":
                self.press_button("Begin")
            self.browser.wait_for(screen, f"return {ready} === arguments[0]", len(texts))
            for _, shown in HOSTILE:
                with self.subTest(shown[:40], screen=screen):
                    self.judge(screen, shown, least)
        self.nothing_amiss()


class Frame(PageCase):
    def test_the_menu_and_the_keys_on_a_phone(self):
        self.browser.show_as(390, 844)
        stand_in = self.begin()
        self.enter(stand_in)
        self.browser.wait_for("the folded menu", "return getComputedStyle(document.querySelector('#menu')).display === 'none'")
        self.assertLessEqual(self.browser.run("return document.querySelector('header').offsetHeight"), 120)
        self.assertEqual(self.browser.run("return document.querySelector('.display').checkVisibility()"), False)  # it is in the menu
        self.browser.press("m")
        self.browser.wait_for("the menu", "return document.activeElement.closest('#menu') !== null && document.querySelector('#menu-button').ariaExpanded === 'true'"
                              " && document.querySelector('.display').checkVisibility() && document.querySelector('.caller').checkVisibility()")
        self.browser.press("Escape")
        self.browser.wait_for("the button", "return document.activeElement.id === 'menu-button' && document.querySelector('#menu-button').ariaExpanded === 'false'")
        self.browser.press("Enter", "Tab", "Tab", "Enter")
        self.browser.wait_for("the second screen", "return location.hash === '#/rules' && getComputedStyle(document.querySelector('#menu')).display === 'none'")
        self.browser.press("?")
        self.browser.wait_for("the keys", "return document.querySelector('dialog.key-help')?.open && document.querySelector('dialog.key-help').innerText.includes('to Workers')")
        for words in ("Ctrl+Enter", "in a heat map"):
            self.assertIn(words, self.browser.text("dialog.key-help"))
        self.assertEqual(self.browser.run("const d = document.querySelector('dialog.key-help'), at = d.getBoundingClientRect(), text = d.querySelector('h2').getBoundingClientRect();"
                                          "return [text.left - at.left >= 12, Math.abs(at.left + at.right - innerWidth) <= 2]"), [True, True])
        self.judge_access()
        self.browser.press("Escape")
        self.browser.wait_for("no keys", "return !document.querySelector('dialog.key-help').open")
        self.browser.press("g", "w")
        self.browser.wait_for("workers", "return location.hash === '#/workers'")
        self.nothing_amiss()

    def test_colours_and_clocks_are_kept(self):
        stand_in = self.begin()
        stand_in.who = {**stand_in.who, "zone": {"name": "Asia/Kathmandu", "offset_s": 20_700}}
        self.enter(stand_in)
        self.choose("select.colours", "dark")
        self.choose("select.zone", "box")
        self.browser.wait_for("both", "return document.documentElement.dataset.colours === 'dark' && document.querySelector('.age').innerText.endsWith('UTC+05:45')"
                              " && document.querySelector('figcaption')?.innerText.endsWith('UTC+05:45')")
        dark = self.browser.run("return getComputedStyle(document.body).backgroundColor")
        self.enter(stand_in, "?again")
        self.browser.wait_for("the same", "return document.documentElement.dataset.colours === 'dark' && document.querySelector('.age').innerText.endsWith('UTC+05:45')")
        self.choose("select.colours", "system")
        self.browser.show_as(1280, 800, dark=False)
        self.browser.wait_for("light", "return document.documentElement.dataset.colours === 'light'")
        self.assertNotEqual(self.browser.run("return getComputedStyle(document.body).backgroundColor"), dark)
        self.browser.run("localStorage.clear()")
        self.nothing_amiss()

    def choose(self, selector, value):
        self.browser.run("const s = document.querySelector(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new Event('change', {bubbles: true}))", selector, value)

    def test_the_focus_stays_while_pages_turn_and_numbers_come(self):
        stand_in = self.begin(130)
        self.enter(stand_in, f"#secret={SECRET}")
        self.show("rules")
        self.browser.run("[...document.querySelectorAll('.pager button')][1].focus()")
        for first in ("rule-00065", "rule-00001"):
            self.browser.press("Enter")
            self.browser.wait_for("the page", "return document.querySelector('table.rules tbody th')?.innerText === arguments[0]", first)
            self.assertEqual(self.browser.run("return document.activeElement.innerText"), "Next")
        self.browser.press("Enter")  # the last page: the button does nothing, and keeps the focus
        self.assertEqual(self.browser.run("return document.activeElement.innerText"), "Next")
        self.browser.run("document.querySelector('.skip').focus()")
        self.browser.press("Enter")
        self.assertEqual(self.browser.run("return document.activeElement.id"), "content")
        self.assertEqual(self.browser.run("return location.hash.startsWith('#/rules')"), True)

    def test_who_wants_no_motion_gets_none(self):
        self.browser.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        self.enter(self.begin())
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('*')].filter((e) => { const s = getComputedStyle(e);"
                                          "return s.animationName !== 'none' || (s.transitionDuration !== '0s' && s.transitionProperty !== 'none'); }).length"), 0)


if __name__ == "__main__":
    main(SHORT)
