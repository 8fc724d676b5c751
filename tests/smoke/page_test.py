"""The frame of the dashboard's page, Overview and Rules, in Chromium.

    page_test.py PAGE MODULES [short | TEST...]
"""
import os
import pathlib

from page_case import HOSTILE, main, PageCase
from page_stand_in import SECRET, rule, utc
from programs import wait_until

# What a run of all tests has of this file; scripts/test browser has the rest too.
SHORT = ("Hostile.test_all_payloads_at_once", "Screens.test_both_screens_in_every_size_and_colour",
         "Screens.test_with_the_keyboard_alone", "Trouble.test_old_numbers_look_old")


class Hostile(PageCase):
    def infested(self, text):
        """Every text of every answer."""
        event = {"seq": 1, "time": utc(0), "event": text, "edge": text, "rule": text, "key": text, "limit": text}
        more = {"box": {"name": text, "state": text, "since": text, "why": text, "generation": text, "workers": 4},
                "problems": [{"name": text, "severity": "critical", "text": text, "do": text}], "events": [event],
                "ports": [{"name": text, "link": text, "rx_pps": 1, "rx_bps": 1, "tx_pps": 1, "tx_bps": 1, "dropped_pps": 0}]}
        stand_in = self.begin(1, **more)
        stand_in.rules = [rule(0, id=text, mode=text, state=text, placement=text)]
        stand_in.who = {"user": text, "role": text, "via": text, "box": text, "verbs": {}, "needs": {"confirm": text}}
        stand_in.trial = {"seconds_left": 30, "until": text, "goes_back_to": text}
        return stand_in

    def test_all_payloads_at_once(self):
        texts = [text for text, _ in HOSTILE]
        stand_in = self.infested(texts[0])
        for member in ("problems", "events", "ports"):
            [row] = getattr(stand_in, member)
            setattr(stand_in, member, [{name: text if value == texts[0] else value for name, value in row.items()} for text in texts])
        stand_in.events = [{**event, "seq": number} for number, event in enumerate(stand_in.events)][:20]
        stand_in.rules = [rule(0, id=text, mode=text, state=text, placement=text) for text in texts]
        self.enter(stand_in)
        for screen, least in (("overview", 3), ("rules", 3)):
            self.show(screen)
            for _, shown in HOSTILE:
                with self.subTest(shown[:40], screen=screen):
                    self.judge(screen, shown, least)
        self.nothing_amiss()

    def test_nothing_that_others_send_runs_or_loads_and_all_of_it_is_shown(self):
        for text, shown in HOSTILE:
            with self.subTest(text[:40]):
                bad = self.infested(text)
                self.enter(bad)
                self.show("overview")
                self.judge("overview", shown, 14)
                self.show("rules")
                self.judge("rules", shown, 7)
                self.nothing_amiss()
                self.browser.load("about:blank")
                bad.stop()

    def test_refusals_and_filters_are_texts_too(self):
        for text, shown in HOSTILE[:4]:
            stand_in = self.begin(refusal=(503, {"title": text, "detail": text, "again_in": 1}))
            self.browser.load(stand_in.url + f"#secret={SECRET}")
            self.browser.wait_for("the refusal", "return document.body.textContent.includes('No snapshot yet') && document.querySelector('.age bdi') !== null")
            self.judge("refusal", shown, 2)
            stand_in.refusal = None
            self.browser.wait_for("a snapshot", "return document.querySelector('.box') !== null")
            self.browser.run("location.hash = '#/rules?filter=' + encodeURIComponent(arguments[0])", text)
            self.browser.wait_for("no rule", "return document.body.textContent.includes('None of 5 rules matches')")
            self.judge("filter", shown, 1)
            self.nothing_amiss(but=("503",))


class Screens(PageCase):
    def test_the_secret_leaves_the_address_bar_and_a_session_stays(self):
        stand_in = self.begin()
        self.enter(stand_in)
        self.assertNotIn("secret", self.browser.run("return location.href"))
        self.assertEqual(self.browser.run("return Object.values(sessionStorage).length + ' ' + document.cookie"), "1 ")
        self.enter(stand_in, "")  # a reload
        self.nothing_amiss()

    def test_both_screens_in_every_size_and_colour(self):
        stand_in = self.begin(trial={"seconds_left": 41.3, "until": utc(0), "goes_back_to": "0011223344556677"}, problems=[
            {"name": "links_down", "severity": "critical", "text": "uplink inside is down", "do": "look at the cable"}])
        stand_in.events = [{"seq": n, "time": utc(0), "event": "limit_start", "rule": "rule-00001", "limit": 0, "key": f"192.0.2.{n}",
                            "lcore": 1, "wait_s": 3.5} for n in range(5)]
        self.enter(stand_in)
        for width, height in ((1280, 800), (390, 844)):
            for dark in (False, True):
                self.browser.show_as(width, height, dark)
                for screen in ("overview", "rules"):
                    with self.subTest(screen=screen, width=width, dark=dark):
                        self.show(screen)
                        if screen == "overview":
                            self.browser.wait_for("lines", "return document.querySelector('.lines canvas') !== null")
                            self.assertGreater(self.browser.pixels(".lines canvas"), 300)
                        self.judge_screen(f"{screen}-{width}-{'dark' if dark else 'light'}", width)
                        if width == 1280 or not dark:  # colours and widths once each
                            self.judge_access()
        self.nothing_amiss()

    def test_refused_and_would_refuse_are_different_words_colours_and_columns(self):
        self.enter(self.begin(), f"#secret={SECRET}")
        self.show("rules")
        heads = self.browser.run("return [...document.querySelectorAll('table.rules th.refused, table.rules th.would-refuse')]"
                                 ".map((th) => [th.innerText, getComputedStyle(th).color])")
        self.assertEqual([head[0] for head in heads], ["Refused", "Would refuse"])
        self.assertNotEqual(heads[0][1], heads[1][1])

    def test_with_the_keyboard_alone(self):
        stand_in = self.begin(130)
        self.enter(stand_in)
        self.browser.press("g", "r")
        self.browser.wait_for("rules", "return document.querySelectorAll('table.rules tbody tr').length === 64")
        self.browser.press("g", "o")
        self.browser.wait_for("overview", "return document.querySelector('.tiles') !== null")
        self.browser.press("/", *"00012", "Enter")
        self.browser.wait_for("one rule", "return document.querySelectorAll('table.rules tbody tr').length === 1")
        self.assertEqual(self.browser.text("table.rules tbody th"), "rule-00012")
        self.browser.press("Escape", "g", "o")
        self.browser.wait_for("overview", "return document.querySelector('.tiles') !== null")
        self.nothing_amiss()

    def test_sorts_and_turns_pages_where_the_rules_are(self):
        stand_in = self.begin(130)
        self.enter(stand_in)
        self.show("rules")
        self.browser.click("table.rules th:first-child button")
        self.browser.wait_for("the first by name", "return document.querySelector('table.rules tbody th')?.innerText === 'rule-00000'")
        self.browser.run("[...document.querySelectorAll('.pager button')].find((b) => b.innerText === 'Next').click()")
        self.browser.wait_for("the second page", "return document.querySelector('table.rules tbody th')?.innerText === 'rule-00064'")
        self.assertIn("sort=id&order=asc&first=64&most=64", stand_in.asked[-1][1])

    def test_what_a_role_may_not_do_says_why(self):
        trial = {"seconds_left": 41.3, "until": utc(0), "goes_back_to": None}
        stand_in = self.begin(trial=trial)
        stand_in.who = {**stand_in.who, "role": "view", "verbs": {"confirm": False, "rollback": False}}
        self.enter(stand_in)
        self.browser.wait_for("the trial", "return document.querySelector('.trial') !== null")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.trial button')].map((b) => b.disabled)"), [True, True])
        self.assertIn("your role is view; this wants operate", self.browser.text(".trial"))
        stand_in.who = {**stand_in.who, "role": "operate", "verbs": {"confirm": True, "rollback": True}}
        self.enter(stand_in, "?again")
        self.browser.click(".trial button")
        wait_until("the confirmation", lambda: stand_in.trial is None)
        self.browser.wait_for("no trial", "return document.querySelector('.trial') === null")

    def test_every_empty_table_names_its_cause(self):
        stand_in = self.begin(0, ports=[], has_rates=False)
        stand_in.box = {**stand_in.box, "state": "no_dataplane", "generation": None, "why": "its socket is gone"}
        self.enter(stand_in)
        self.browser.wait_for("a snapshot", "return document.querySelectorAll('.empty').length >= 4")
        shown = self.browser.text()
        for words in ("Nobody counts", "its socket is gone", "No rules are in force", "The dataplane has the ports", "Nothing that sluiced can see"):
            self.assertIn(words, shown)


class Trouble(PageCase):
    def test_old_numbers_look_old(self):
        stand_in = self.begin()
        self.enter(stand_in)
        self.assertEqual(self.looks_old(), [])
        stand_in.stop()
        self.browser.wait_for("the page to look old", "return document.querySelector('.page.stale') !== null")
        self.assertRegex(self.browser.text(".age"), r"^Old: no answer since [0-9:]{8} UTC\.\nOld\. Last answer [0-9:]{8} UTC, \d+ s ago\. sluiced does not answer")
        self.assertIn("Traffic goes on, and the limits in force with it", self.browser.text("header"))
        numbers = self.browser.run("return document.querySelectorAll('.num').length")
        self.assertEqual(len(self.looks_old()), numbers)
        if shots := os.environ.get("SLUICE_SCREENSHOTS"):
            self.browser.screenshot(pathlib.Path(shots) / "old.png")

    def looks_old(self):
        return self.browser.run("return [...document.querySelectorAll('.num')].filter((n) => "
                                "getComputedStyle(n).backgroundImage.includes('gradient')).map((n) => n.innerText)")

    def test_a_session_that_is_over_locks_the_page_and_keeps_what_was_typed(self):
        stand_in = self.begin()
        self.enter(stand_in)
        self.browser.type("#search", "half a word")
        stand_in.tokens = set()
        self.browser.wait_for("the lock", "return document.querySelector('.lock form') !== null")
        self.assertIn("The session is over", self.browser.text(".lock"))
        stand_in.tokens = {"a-session"}
        self.browser.type(".lock input", SECRET + "\ue007")
        self.browser.wait_for("the page", "return document.querySelector('.lock') === null")
        self.assertEqual(self.browser.run("return document.querySelector('#search').value"), "half a word")
        self.nothing_amiss(but=("401",))

    def test_says_that_sluiced_was_started_anew_and_reloads_for_another_page(self):
        stand_in = self.begin()
        self.enter(stand_in)
        stand_in.run = "ffffffff"
        self.browser.wait_for("the notice", "return document.body.innerText.includes('sluiced was started anew')")
        self.browser.run("window.before = true")
        stand_in.web = "page-2"
        self.browser.wait_for("another page", "return window.before === undefined")
        self.nothing_amiss()

    def test_ten_thousand_rules_never_hold_the_page_up(self):
        stand_in = self.begin(10_000)
        self.enter(stand_in)
        self.show("rules")
        # Another process may take the processor away for a round, not for each of them.
        rounds = [self.longest_task(stand_in, column) for column in ("3", "4", "5", "3", "4")]
        print("longest tasks, ms:", *rounds)
        self.assertLessEqual(min(rounds), 50)
        self.nothing_amiss()

    def longest_task(self, stand_in, column):
        """While rules are sorted otherwise and two more snapshots come."""
        self.browser.run("window.seen.long.length = 0")
        self.browser.run(f"document.querySelector('table.rules th:nth-child({column}) button').click()")
        self.browser.wait_for("rows", "return document.querySelector('table.rules.pending') === null")
        first = stand_in.snapshot()
        wait_until("two snapshots more", lambda: stand_in.snapshot() > first + 2)
        return max(self.browser.run("return window.seen.long"), default=0)


if __name__ == "__main__":
    main(SHORT)
