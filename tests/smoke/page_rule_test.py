"""The screen of one rule in Chromium: both heat maps, who is in a cell, and what can be done about it.

    page_rule_test.py PAGE MODULES [short | TEST...]
"""
import re

import page.rule
from page.rule import COLUMNS, RULE, RuleAnswers
from page_case import HOSTILE, main, PageCase
from page_stand_in import SECRET
from programs import wait_until

# What a run of all tests has of this file; scripts/test browser has the rest too.
SHORT = ("Maps.test_cells_are_what_the_table_says", "Maps.test_with_the_keyboard_alone",
         "Verbs.test_a_cell_whose_names_are_gone_says_so_and_the_head_says_what_holds", "Verbs.test_a_mode_goes_down_to_monitor_with_operate")
# The colour in the middle of a cell, and whether it is one colour all over; rows from below.
PROBE = """
const canvas = document.querySelectorAll('canvas.cells')[arguments[0]];
const [columns, rows] = [arguments[1], arguments[2]];
const pen = canvas.getContext('2d');
const box = (column, row) => {
  const edge = (at, parts, length) => Math.round(at * length / parts);
  const [left, top] = [edge(column, columns, canvas.width), edge(rows - 1 - row, rows, canvas.height)];
  return [left, top, edge(column + 1, columns, canvas.width) - left, edge(rows - row, rows, canvas.height) - top];
};
return arguments[3].map(([column, row]) => {
  const {data} = pen.getImageData(...box(column, row));
  const seen = new Set(new Uint32Array(data.buffer));
  return [...seen].map((one) => [one & 255, (one >> 8) & 255, (one >> 16) & 255, one >>> 24].join());
});
"""
TABLE = """
const table = document.querySelector('figure.heat table.numbers');
const columns = [...table.querySelectorAll('thead th[data-column]')].map((th) => Number(th.dataset.column));
return [...table.querySelectorAll('tbody tr')].flatMap((tr) => [...tr.querySelectorAll('td')].map((td, at) =>
  [columns[at], Number(tr.dataset.row), td.textContent.replace(/\\u2009/g, '')]));
"""


def brightness(colour):
    red, green, blue, _ = map(int, colour.split(","))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


class RuleCase(PageCase):
    def begin(self, rules=5, **members):
        stand_in = super().begin(rules, **members)
        stand_in.one_rule, stand_in.before = RuleAnswers(), [page.rule]
        verbs = {"ban": True, "key": True, "monitor": True, "mode": True}
        stand_in.who = {**stand_in.who, "verbs": verbs, "needs": {"ban": "operate", "key": "operate", "monitor": "operate", "mode": "admin"}}
        return stand_in

    def show_rule(self, stand_in, rule=RULE):
        self.enter(stand_in)
        self.browser.run("location.hash = '#/rule/' + encodeURIComponent(arguments[0])", rule)
        self.browser.wait_for("the rule", "return document.querySelector('main .name') !== null && document.querySelector('canvas.cells')?.width > 0"
                              " && document.querySelectorAll('.plot canvas').length === 1")

    def press_in_map(self, number, *keys):
        self.browser.run("document.querySelectorAll('canvas.cells')[arguments[0]].focus()", number)
        self.browser.press(*keys)


ARROWS = {"left": "\ue012", "up": "\ue013", "right": "\ue014", "down": "\ue015"}
ENTER = "\ue007"


class Maps(RuleCase):
    def probe(self, number, rows, cells):
        return self.browser.run(PROBE, number, COLUMNS, rows, cells)

    def test_cells_are_what_the_table_says(self):
        self.show_rule(self.begin())
        for dark in (False, True):
            self.browser.show_as(1280, 800, dark)
            for number in (0, 1):
                with self.subTest(map=number, dark=dark):
                    self.judge_cells(number, dark)
        self.nothing_amiss()

    def judge_cells(self, number, dark):
        """The more groups the table has, the further from the background is the cell; none is the background, no data hatched."""
        self.browser.run("document.querySelectorAll('figure.heat figcaption button')[arguments[0]].click()", number)
        self.browser.wait_for("the table", "return document.querySelectorAll('figure.heat')[arguments[0]].querySelector('table') !== null"
                              " && document.querySelectorAll('figure.heat table').length === 1", number)
        table = self.browser.run(TABLE)
        rows = 1 + max(row for _, row, _ in table)
        self.browser.wait_for("the colours", "return Math.abs(document.querySelector('canvas.cells').width - document.querySelector('canvas.cells').clientWidth * devicePixelRatio) <= 1")
        seen = self.probe(number, rows, [[column, row] for column, row, _ in table])
        paper = self.browser.run("return getComputedStyle(document.querySelector('.panel')).backgroundColor.match(/[0-9]+/g).join() + ',255'")
        bright = {}
        for (column, row, groups), colours in zip(table, seen):
            if groups.startswith("–"):
                self.assertEqual(len(colours), 2, (column, row))
                self.assertIn(paper, colours)
            else:
                self.assertEqual(len(colours), 1, (column, row))
                bright.setdefault(int(groups), set()).add(brightness(colours[0]))
                if groups == "0":
                    self.assertEqual(colours, [paper])
        self.assertEqual({len(found) for found in bright.values()}, {1})
        ordered = [next(iter(bright[groups])) for groups in sorted(bright)]
        self.assertGreater(len(ordered), 3)
        self.assertEqual(ordered, sorted(ordered, reverse=not dark))
        self.assertNotEqual(ordered[0], ordered[1])
        self.browser.run("document.querySelectorAll('figure.heat figcaption button')[arguments[0]].click()", number)

    def test_with_the_keyboard_alone(self):
        stand_in = self.begin()
        self.show_rule(stand_in)
        self.press_in_map(1, ARROWS["left"])
        self.assertRegex(self.browser.run("return document.querySelectorAll('.reads')[1].innerText"), r"refused now: about 259 groups$")
        self.press_in_map(1, ARROWS["left"], ARROWS["up"])
        self.assertRegex(self.browser.run("return document.querySelectorAll('.reads')[1].innerText"), r"0 to 6 % left: no watched group$")
        self.assertEqual(self.browser.run("return document.querySelectorAll('.reads')[1].getAttribute('aria-live')"), "polite")
        self.press_in_map(1, ARROWS["down"], ENTER)
        self.browser.wait_for("the groups", "return document.querySelector('section.cell table') !== null")
        self.assertEqual(self.browser.run("return document.activeElement.className"), "cell")
        asked = [path for _, path, _ in stand_in.asked if "/heatmap/cell" in path]
        self.assertRegex(asked[-1], r"limit=0&step=10&at=[0-9T%A:-]+Z&by=left&bucket=0$")
        self.assertIn("About 770 groups; one in 256 is watched.", self.browser.text("section.cell"))
        self.press_in_map(1, "t")
        self.browser.wait_for("the table", "return document.querySelectorAll('figure.heat')[1].querySelector('table') !== null")
        self.press_in_map(1, "t")
        self.browser.wait_for("no table", "return document.querySelector('figure.heat table') === null")
        self.nothing_amiss()

    def test_the_cursor_is_one_for_all_plots_and_they_share_their_time(self):
        self.show_rule(self.begin())
        places = self.browser.run("return [...document.querySelectorAll('canvas.cells, .u-over')].map((e) => { const b = e.getBoundingClientRect();"
                                  "return [Math.round(b.left), Math.round(b.right)]; })")
        self.assertEqual(len(places), 3)
        for left, right in places[1:]:
            self.assertLessEqual(abs(left - places[0][0]), 1)
            self.assertLessEqual(abs(right - places[0][1]), 1)
        self.press_in_map(0, ARROWS["left"], ARROWS["left"], ARROWS["left"])
        self.browser.wait_for("the cursor of the rates", "return / at [0-9:]{8}$|at [0-9:]{8}/.test(document.querySelector('.rates').innerText)")
        self.browser.wait_for("the line", "const c = document.querySelector('.u-cursor-x'); return c !== null && !c.classList.contains('u-off')"
                              " && new DOMMatrix(getComputedStyle(c).transform).m41 > 0")

    def test_the_newest_of_many_events_stands_first(self):
        stand_in = self.begin()
        stand_in.one_rule.events = [{**stand_in.one_rule.events[0], "seq": number, "key": f"key-{number}"} for number in range(1500)]
        self.show_rule(stand_in)
        self.browser.wait_for("the events", "return document.querySelector('table.events tbody tr') !== null")
        self.assertEqual(self.browser.run("const rows = [...document.querySelectorAll('table.events tbody tr')];"
                                          "return [rows.length, rows[0].cells[1].innerText, rows[49].cells[1].innerText]"), [50, "key-1499", "key-1450"])

    def test_says_which_cause_an_empty_map_has(self):
        stand_in = self.begin()
        stand_in.one_rule.columns, stand_in.one_rule.why_empty = [None] * COLUMNS, "the rule is off: nothing is counted"
        stand_in.one_rule.reading = {"kind": "none", "says": "", "numbers": {}}
        self.show_rule(stand_in)
        self.assertIn("the rule is off: nothing is counted", self.browser.text("main"))
        self.assertEqual({len(colours) for colours in self.probe(1, 18, [[0, 0], [30, 9], [59, 17]])}, {2})
        stand_in.one_rule.why_empty, stand_in.one_rule.columns = None, [
            {"at": "2026-11-30T07:00:00Z", "one_in": 1, "groups": 0, "error": None, "left_out": 0, "offered": [], "left": []}] * COLUMNS
        self.show_rule(stand_in, "rule-00002")
        self.assertIn("No group has come in this time", self.browser.text("main"))
        self.nothing_amiss()

    def test_the_reading_has_its_numbers_and_the_sampling_its_rate(self):
        self.show_rule(self.begin())
        self.assertIn("Typical. 0.2 % of groups reached nothing left", self.browser.text(".reading"))
        self.browser.click(".reading summary")
        self.assertEqual(self.browser.text(".reading dl").split("\n")[:2], ["with nothing left", "0.2 %"])
        self.assertEqual(self.browser.text(".sampling"), "All numbers are about: one group in 256 is watched, give or take 2.0 %.")

    def test_maps_that_are_not_read_any_more_look_old(self):
        stand_in = self.begin()
        self.show_rule(stand_in)
        stand_in.stop()
        self.browser.wait_for("the page to look old", "return document.querySelector('.page.stale') !== null")
        self.assertNotEqual(self.browser.run("return getComputedStyle(document.querySelector('.area')).filter"), "none")


class Verbs(RuleCase):
    def open_cell(self, stand_in):
        self.show_rule(stand_in)
        self.press_in_map(0, ARROWS["left"], ENTER)
        self.browser.wait_for("the groups", "return document.querySelector('section.cell tbody') !== null")

    def test_a_key_leads_to_its_page_to_a_condition_and_to_a_ban(self):
        stand_in = self.begin()
        self.open_cell(stand_in)
        links = self.browser.run("return [...document.querySelectorAll('section.cell tbody a')].map((a) => a.getAttribute('href'))")
        self.assertEqual(links[:2], [f"#/key/{RULE}?limit=1&key=10.7.0.0", f"#/builder?rule={RULE}&condition=ip.src+in+%7B10.7.0.0%7D"])
        self.assertIn(f"#/builder?rule={RULE}&condition=ip.src+in+%7B10.7.0.0%2F16%7D", links)
        self.browser.click("section.cell tbody button")
        self.browser.type("form.ban input", "a flood" + ENTER)
        wait_until("the ban", lambda: stand_in.one_rule.banned)
        self.assertEqual(stand_in.one_rule.banned, [{"keys": ["10.7.0.0"], "for": "1h", "reason": "a flood"}])
        self.browser.wait_for("word of it", "return document.querySelector('section.cell [role=status]')?.innerText.startsWith('Banned')")
        self.nothing_amiss()

    def test_a_key_of_a_cell_is_given_units_of_the_cells_limit(self):
        stand_in = self.begin()
        self.open_cell(stand_in)
        self.browser.click("section.cell tbody a")
        self.browser.wait_for("the key", "return document.querySelector('main [name=units]') !== null")
        self.browser.type("main [name=units]", "200")
        self.browser.click("main .verb button")
        self.browser.wait_for("the end", "return document.body.innerText.includes('Done: Grant')")
        self.assertEqual([body for method, path, body in stand_in.asked if method == "POST" and path == f"/v1/rules/{RULE}/key"],
                         [{"key": "10.7.0.0", "action": "grant", "limit": "1", "units": "200"}])
        self.nothing_amiss()

    def test_what_a_role_may_not_do_is_grey_and_says_why(self):
        stand_in = self.begin()
        stand_in.who = {**stand_in.who, "role": "view", "verbs": {}}
        self.open_cell(stand_in)
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('section.cell tbody button, .modes button')].every((b) => b.disabled)"), True)
        self.assertIn("your role is view; this wants operate", self.browser.text("section.cell"))
        self.assertIn("your role is view; this wants admin", self.browser.text(".modes"))

    def test_a_cell_whose_names_are_gone_says_so_and_the_head_says_what_holds(self):
        stand_in = self.begin()
        stand_in.one_rule.keys, stand_in.one_rule.shared = [], []
        self.show_rule(stand_in)
        self.press_in_map(0, ARROWS["left"], ENTER)
        self.browser.wait_for("the word of it", "return document.querySelector('section.cell')?.innerText.includes('What they share is not known either')")
        self.assertNotIn("share nothing", self.browser.text("section.cell"))
        for words in ("2m after 200 refusals in 10s", "by overrides.csv"):
            self.assertIn(words, self.browser.text("main"))
        self.assertEqual(self.browser.run("return document.querySelector('.tools select').selectedOptions[0].text"),
                         "finest columns: 10 min")
        self.nothing_amiss()

    def test_a_mode_goes_down_to_monitor_with_operate(self):
        stand_in = self.begin()
        stand_in.who = {**stand_in.who, "role": "operate", "verbs": {"monitor": True, "mode": False}}
        self.show_rule(stand_in)
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.modes button')].map((b) => [b.innerText, b.disabled])"),
                         [["Only monitor", False], ["Turn off", True]])
        self.browser.click(".modes button")
        self.browser.wait_for("what it means", "return document.querySelector('.modes [role=alert]')?.innerText.includes('You cannot put it back into force: that wants admin.')")
        self.assertEqual(stand_in.one_rule.mode, "enforce")  # a question first
        self.browser.click(".modes [role=alert] button")
        wait_until("the mode", lambda: stand_in.one_rule.mode == "monitor")
        self.browser.wait_for("the new mode", "return [...document.querySelectorAll('.modes button')].map((b) => b.innerText).join() === 'Enforce,Turn off'")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.modes button')].every((b) => b.disabled)"), True)

    def test_rules_and_overview_lead_to_it(self):
        self.enter(self.begin())
        for screen in ("overview", "rules"):
            self.show(screen)
            self.browser.click("main tbody th a")
            self.browser.wait_for("the rule", "return document.querySelector('main .name') !== null")


class Looks(RuleCase):
    def test_in_every_size_and_colour(self):
        stand_in = self.begin()
        stand_in.rules.append({**stand_in.rules[1], "id": f"{RULE}.half", "mode": "monitor"})
        self.show_rule(stand_in)
        self.press_in_map(0, ARROWS["left"], ENTER)
        for width, height in ((1280, 800), (390, 844)):
            for dark in (False, True):
                with self.subTest(width=width, dark=dark):
                    self.browser.show_as(width, height, dark)
                    self.browser.wait_for("the map", "return document.querySelector('canvas.cells').clientWidth < arguments[0]", width)
                    self.judge_screen(f"rule-{width}-{'dark' if dark else 'light'}", width)
                    self.judge_access()
        self.assertIn(f"{RULE}.half", self.browser.text("main"))
        self.nothing_amiss()

    def test_what_others_send_is_text(self):
        texts = [text for text, _ in HOSTILE]
        stand_in = self.begin()
        rule = stand_in.one_rule
        rule.keys = [{"key": text, "offered": 1, "refused": 1, "left": 0} for text in texts]
        rule.shared = [{"field": text, "value": text, "here": 1, "rest": 0} for text in texts]
        rule.events = [{"seq": number, "time": text, "event": text, "rule": text, "key": text, "limit": text} for number, text in enumerate(texts)]
        rule.limits = [{**rule.limits[0], "index": number, "text": text, "unit": text} for number, text in enumerate(texts)]
        rule.reading = {"kind": texts[0], "says": "\n".join(texts[:4]), "numbers": {text: text for text in texts[:8]}}
        rule.text, rule.key_shape, rule.why_empty = "\n".join(texts), "http.host", texts[1]
        self.show_rule(stand_in)
        self.press_in_map(0, ARROWS["left"], ENTER)
        self.browser.wait_for("the groups", "return document.querySelector('section.cell tbody') !== null")
        self.browser.run("for (const one of document.querySelectorAll('details summary')) { one.click(); }")
        self.browser.wait_for("live keys", "return document.querySelector('details table') !== null")
        for _, shown in HOSTILE:
            with self.subTest(shown[:40]):
                self.judge("rule", shown, 3)
        links = self.browser.run("return [...document.querySelectorAll('main a')].map((a) => a.getAttribute('href'))")
        self.assertEqual([link for link in links if not re.match(r"#/[a-z]+(/|\?|$)", link)], [])
        self.nothing_amiss()

    def test_no_such_rule_says_so(self):
        self.enter(self.begin(), f"#secret={SECRET}")
        self.browser.run("location.hash = '#/rule/'")
        self.browser.wait_for("words", "return document.querySelector('main').innerText.includes('No rule is named')")


if __name__ == "__main__":
    main(SHORT)
