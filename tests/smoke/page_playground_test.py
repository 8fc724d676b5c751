"""The screen Playground of the dashboard, in Chromium.

    page_playground_test.py PAGE MODULES [short | TEST...]
"""
from page_case import HOSTILE, main, PageCase
from page.simulated import simulated
from programs import wait_until

SHORT = ("Playground.test_two_bursts_around_an_edge", "Playground.test_hits_by_key_and_pointer", "Playground.test_no_letter_is_lost_however_fast_they_come", "Hostile.test_texts_of_answers")
RUNS = "document.querySelectorAll('article.run').length"
COUNTS = "[...document.querySelectorAll('.run-counts')].map((p) => p.innerText)"
FIXED = {"algorithm": "fixed_window", "count": "10", "window": "1s"}
LOG = {"algorithm": "sliding_log", "count": "10", "window": "1s"}
BOTH = "?l1=fixed_window%3Bcount%3D10%3Bwindow%3D1s&l2=sliding_log%3Bcount%3D10%3Bwindow%3D1s"


class PlaygroundCase(PageCase):
    def open_screen(self, ready, words):
        """The screen, once `ready` (a script) says that it shows what is meant."""
        self.browser.run("location.hash = arguments[0]", f"#/playground{words}")
        self.browser.wait_for("playground", f"return document.querySelector('.playground') !== null && ({ready})")

    def open_with(self, words, count, **members):
        stand_in = self.begin(**members)
        self.enter(stand_in)
        self.open_screen(f"{RUNS} === {count}", words)
        return stand_in

    def press(self, name):
        self.browser.run("[...document.querySelectorAll('main button')].find((b) => b.innerText === arguments[0]).click()", name)


class Playground(PlaygroundCase):

    def type(self, name, text):
        self.browser.run("const f = document.querySelector(`[name='${arguments[0]}']`); f.value = arguments[1];"
                         "f.dispatchEvent(new Event(f.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true}))", name, text)

    def last_body(self, stand_in):
        return [body for _, path, body in stand_in.asked if path == "/v1/simulate"][-1]

    def test_two_bursts_around_an_edge(self):
        stand_in = self.open_with(BOTH + "&load=edge", 2)
        self.assertEqual(self.last_body(stand_in), {
            "limits": "- {algorithm: fixed_window, count: 10, window: 1s}\n- {algorithm: sliding_log, count: 10, window: 1s}\n",
            "run": {"load": "edge", "size": "10", "edge_at": "1s", "apart": "20ms", "duration": "3s", "cost": "1"}})
        self.assertEqual(self.browser.run(f"return {COUNTS}"), ["20 of 20 admitted, 0 refused.", "10 of 20 admitted, 10 refused."])
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.run-most dd')].map((d) => d.innerText.split(' ')[0])"),
                         ["20", "20", "10", "20"])
        self.assertEqual(self.browser.run("return document.querySelector('article.run canvas').getAttribute('aria-label')"),
                         "fixed_window 10 1s: 20 of 20 admitted, 0 refused")
        link = self.browser.run("return document.querySelector('article.run a').getAttribute('href')")
        self.assertEqual(link, "#/builder?limit=%7Balgorithm%3A+fixed_window%2C+count%3A+10%2C+window%3A+1s%7D")
        self.assertIn("sluicectl simulate --algorithm fixed_window", self.browser.text(".run-line code"))
        self.nothing_amiss()

    def test_no_letter_is_lost_however_fast_they_come(self):
        stand_in = self.open_with(BOTH + "&load=edge", 2)
        for word in ("314", "27", "9876543"):
            self.browser.run("const f = document.querySelector('[name=\"count-1\"]'); f.focus(); f.select()")
            self.browser.press(*word)
            self.assertEqual(self.browser.run("return document.querySelector('[name=\"count-1\"]').value"), word)
            wait_until("the question", lambda: f"count: {word}," in self.last_body(stand_in)["limits"])
        self.nothing_amiss()

    def test_what_is_drawn_is_what_the_table_says(self):
        self.open_with(BOTH + "&load=edge", 2)
        # In the lanes of the second run, by colour: admitted before the edge, refused behind it, and nothing between.
        ink = """
            const canvas = document.querySelectorAll('article.run canvas')[1], scale = devicePixelRatio || 1;
            const width = canvas.clientWidth - 24, pen = canvas.getContext('2d');
            const whole = pen.getImageData(0, 0, canvas.width, canvas.height);
            const inked = (x, y, size) => {
              let count = 0;
              for (let down = Math.round((y - size) * scale); down < (y + size) * scale; down += 1) {
                for (let right = Math.round((12 + x - size) * scale); right < (12 + x + size) * scale; right += 1) {
                  count += whole.data[4 * (down * whole.width + right) + 3] > 200;
                }
              }
              return count;
            };
            const at = (seconds) => seconds / 3 * width;
            return [inked(at(0.99), 11, 3), inked(at(1.01), 33, 3), inked(at(0.99) - 30, 11, 3), inked(at(1.01) + 30, 33, 3)];"""
        self.browser.wait_for("the drawing", "return document.querySelectorAll('article.run canvas')[1].width > 300")
        admitted, refused, *nothing = self.browser.run(ink)
        self.assertGreater(admitted, 5)
        self.assertGreater(refused, 5)
        self.assertEqual(nothing, [0, 0])
        self.browser.run("document.querySelectorAll('article.run summary')[1].click()")
        self.browser.wait_for("the table", "return document.querySelectorAll('table.dots tbody tr').length === 20")
        rows = self.browser.run("return [...document.querySelectorAll('table.dots tbody tr')].map((r) => [...r.cells].slice(0, 2).map((c) => c.innerText).join(' '))")
        self.assertEqual(rows, 10 * ["990 ms admitted"] + 10 * ["1.01 s refused"])
        self.nothing_amiss()

    def test_hits_by_key_and_pointer(self):
        stand_in = self.open_with(BOTH + "&load=hits", 2)
        self.browser.run("document.querySelector('.hit').focus()")
        press = ("const b = document.querySelector('.hit'); b.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}));"
                 "b.dispatchEvent(new KeyboardEvent('keyup', {key: arguments[0], bubbles: true}))")
        for key in (" ", "Enter", "x"):
            self.browser.run(press, key)
        self.browser.wait_for("two hits", f"return {COUNTS}[0].startsWith('2 of 2')")
        self.assertEqual(self.last_body(stand_in)["run"]["hits"][0], "0ms")
        held = self.browser.run_later("const done = arguments[arguments.length - 1], b = document.querySelector('.hit');"
                                      "b.dispatchEvent(new PointerEvent('pointerdown', {button: 0, bubbles: true}));"
                                      "setTimeout(() => { b.dispatchEvent(new PointerEvent('pointerup', {bubbles: true}));"
                                      "done(document.querySelector('#hit-says').innerText); }, 700)")
        self.assertGreater(int(held.split()[0]), 4, "a stream while it is held")
        count = self.browser.run("return parseInt(document.querySelector('#hit-says').innerText)")
        self.browser.wait_for("the answer", f"return {COUNTS}[0].includes(` of ${{arguments[0]}} `)", count)
        self.assertEqual(len(self.last_body(stand_in)["run"]["hits"]), count)
        self.press("Begin anew")
        self.browser.wait_for("nothing", f"return {COUNTS}[0].startsWith('0 of 0')")
        self.nothing_amiss()

    def test_another_algorithm_keeps_the_values_that_both_have_and_a_link_brings_all_back(self):
        stand_in = self.open_with(BOTH + "&load=constant&offer=40%2Fs", 2)
        self.type("count-1", "7")
        self.type("algorithm-1", "sliding_log")
        self.press("Add a limit")
        self.browser.wait_for("three", f"return {RUNS} === 3")
        self.assertEqual(self.last_body(stand_in)["limits"].splitlines()[0], "- {algorithm: sliding_log, count: 7, window: 1s}")
        self.press("Add a limit")
        self.browser.wait_for("four", f"return {RUNS} === 4")
        self.assertFalse(self.browser.run("return [...document.querySelectorAll('main button')].some((b) => b.innerText === 'Add a limit')"))
        place, told = self.browser.run("return location.hash"), self.last_body(stand_in)
        self.show("overview")
        self.open_screen(f"{RUNS} === 4", place.removeprefix("#/playground"))
        wait_until("the same again", lambda: self.last_body(stand_in) == told)
        self.browser.load("about:blank")
        self.enter(stand_in, place)
        self.browser.wait_for("a reload", f"return {RUNS} === 4")
        self.assertEqual(self.last_body(stand_in), told)

    def test_a_wrong_value_is_told_beside_its_limit(self):
        stand_in = self.open_with(BOTH + "&load=edge", 2)
        self.type("count-2", "many")
        self.browser.wait_for("the problem", "return document.querySelectorAll('.play-limit .run-problems').length === 1")
        self.assertEqual(self.browser.run("return document.querySelector('.run-problems').closest('fieldset').querySelector('legend').innerText"), "Limit 2")
        self.assertIn("`many` is no number", self.browser.text(".run-problems"))
        self.assertIn("There is an error", self.browser.text(".runs"))
        self.type("count-2", "10")
        self.browser.wait_for("runs again", f"return {RUNS} === 2 && document.querySelector('.run-problems') === null")
        stand_in.simulation = (413, {"title": "too much to simulate", "detail": "more than 100000 arrivals"})
        self.type("size", "99999")
        self.browser.wait_for("the refusal", "return document.querySelector('.runs .notice')?.innerText.includes('more than 100000 arrivals') ?? false")
        self.assertEqual(self.browser.run(f"return {RUNS}"), 0)
        self.nothing_amiss(but=("413",))

    def test_with_the_keyboard_alone(self):
        stand_in = self.open_with(BOTH + "&load=hits", 2)
        names = self.browser.run("return [...document.querySelectorAll('main button, main input, main select, main summary, main a')]"
                                 ".filter((e) => !e.disabled && e.tabIndex < 0).map((e) => e.outerHTML)")
        self.assertEqual(names, [])
        self.browser.run("document.querySelector('.hit').focus()")
        self.browser.press(" ")
        wait_until("a hit", lambda: self.last_body(stand_in)["run"].get("hits"))
        self.nothing_amiss()

    def test_in_every_size_and_colour(self):
        self.open_with(BOTH + "&load=edge", 2)
        for width, height in ((1280, 800), (390, 844)):
            for dark in (False, True):
                with self.subTest(width=width, dark=dark):
                    self.browser.show_as(width, height, dark)
                    self.open_screen(f"{RUNS} === 2", BOTH + "&load=edge")
                    self.judge_screen(f"playground-{width}-{'dark' if dark else 'light'}", width)
                    self.judge_access()
        self.nothing_amiss()


class Hostile(PlaygroundCase):
    def test_texts_of_answers(self):
        texts = [text for text, _ in HOSTILE]
        run = simulated(FIXED, {"load": "edge", "size": "2", "edge_at": "1s", "apart": "20ms", "duration": "3s"})
        runs = [{**run, "algorithm": text, "text": text, "unit": text, "yaml": text, "line": text, "promise": text} for text in texts]
        problems = [{"severity": text, "of": "limits", "line": None, "column": None, "text": text} for text in texts]
        stand_in = self.begin(simulation=(200, {"ok": True, "problems": problems, "start_ns": 0, "runs": runs}))
        self.enter(stand_in)
        self.open_screen(f"{RUNS} === {len(texts)}", BOTH)
        for _, shown in HOSTILE:
            with self.subTest(shown[:40]):
                self.judge("playground", shown, 3)
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.run-line code')].map((c) => c.textContent)"), [shown for _, shown in HOSTILE])
        self.nothing_amiss()
        self.browser.load("about:blank")
        stand_in.stop()
        stand_in = self.begin()
        self.enter(stand_in)
        for text in texts[::4]:
            words = "?l1=" + "".join(f"%{byte:02x}" for byte in f"fixed_window;count={text[:60]};window=1s".encode()) + "&load=" + "".join(f"%{byte:02x}" for byte in text[:60].encode())
            self.open_screen("true", words)
        self.nothing_amiss()


if __name__ == "__main__":
    main(SHORT)
