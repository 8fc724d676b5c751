"""The report of the benchmarks, over rows that nobody measured: what is kept, how it reads, what is drawn.

    report_test.py
"""
import contextlib
import io
import json
import os
import pathlib
import pty
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts/lib/bench"), str(ROOT / "scripts")]
import lint_figures  # noqa: E402
import bench  # noqa: E402
import in_process  # noqa: E402
import plot_terminal  # noqa: E402
import progress  # noqa: E402
import report  # noqa: E402
import report_plot  # noqa: E402
import results  # noqa: E402
import rows  # noqa: E402

RUN = {"machine": "a machine, 2 cores", "date": "2026-11-26", "quick": False, "pages": "4 KB pages", "commit": "abc"}


def row(name, value, **more):
    return {"id": name, "case": "a case", "value": value, "unit": "Mpps", "reference": None, "reference_value": None,
            "ratio": None, "bar": None, "goal": None, "better": "higher", **more}


def kept(*measured, run=None):
    """results.json as it is after so many runs, each a list of rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results.json"
        for each in measured:
            results.keep(each, run or RUN, path)
        return results.load(path)


class Keeping(unittest.TestCase):
    def test_an_id_that_is_measured_again_takes_its_own_place(self):
        after = kept([row("T1", 1), row("T2", 2)], [row("T1", 3), row("T1", 4, case="other")])
        self.assertEqual([each["value"] for each in after["T1"]["rows"]], [3, 4])
        self.assertEqual([each["value"] for each in after["T2"]["rows"]], [2])
        self.assertEqual(after["T1"]["commit"], "abc")

    def test_rows_of_several_ids_are_kept_by_case(self):
        after = kept([row("P", 1, case="floor"), row("P", 2, case="share")], [row("P", 3, case="floor")])
        self.assertEqual({each["case"]: each["value"] for each in after["P"]["rows"]}, {"floor": 3, "share": 2})

    def test_the_rounds_of_both_sides_are_kept(self):
        values = iter([1, 4, 3, 5, 2, 6])
        with contextlib.redirect_stderr(io.StringIO()):
            medians = rows.interleaved([("ours", lambda: next(values)), ("theirs", lambda: next(values))], 3)
        done = rows.compared("F1", "case", medians, "Mpps")
        self.assertEqual((done["rounds"], done["reference_rounds"]), ([1, 3, 2], [4, 5, 6]))
        self.assertEqual((done["value"], done["ratio"]), (2, 0.4))


class Reading(unittest.TestCase):
    def line(self, **more):
        text = report.report(kept([row("F1", 20.0, **more)]))
        return next(line for line in text.splitlines() if line.startswith("| F1"))

    def test_a_ratio_is_held_to_its_bar(self):
        beside = {"reference": "testpmd", "reference_value": 40.0, "ratio": 0.5}
        self.assertIn("| testpmd: 40 | 0.5 | 0.38 | met |", self.line(**beside, bar=0.38))
        self.assertIn("| 0.6 | **missed** |", self.line(**beside, bar=0.6))
        self.assertIn("| **missed** |", self.line(**beside, bar=0.38, better="lower"))
        self.assertIn("| 0.5 |  |  |", self.line(**beside))

    def test_a_figure_without_a_reference_is_held_to_its_bar_itself(self):
        self.assertIn("|  |  | 18 | met |", self.line(bar=18))
        self.assertIn("|  |  | 21 | **missed** |", self.line(bar=21))

    def test_a_rate_with_a_round_of_nothing_or_less_keeps_no_bar(self):
        beside = {"reference": "testpmd", "reference_value": 5.0, "ratio": 4.0, "bar": 0.5}
        self.assertIn("| met |", self.line(**beside, rounds=[19.0, 20.0, 21.0]))
        self.assertIn("| **missed** |", self.line(**beside, rounds=[-19.0, 20.0, 21.0]))
        self.assertIn("| met |", self.line(bar=21, better="lower", rounds=[-1.0, 20.0, 21.0]))

    def test_a_bar_may_be_of_the_figure_that_has_a_ratio_too(self):
        beside = {"reference": "dropped", "reference_value": 40.0, "ratio": 0.5}
        self.assertIn("| 0.5 | 15 Mpps | met |", self.line(**beside, bar=15, bar_of="value"))
        self.assertIn("| 0.5 | 21 Mpps | **missed** |", self.line(**beside, bar=21, bar_of="value"))
        self.assertIn("| 0.5 | 0.4 | met |", self.line(**beside, bar=0.4, better="lower", bar_is="least"))

    def test_a_bar_of_two_ends_is_missed_below_the_first_too(self):
        for ratio, met in ((0.811, "**missed**"), (0.9, "met"), (1.15, "met"), (1.42, "**missed**")):
            beside = {"reference": "in process", "reference_value": 5.0, "ratio": ratio}
            self.assertIn(f"| {ratio} | 0.9 to 1.15 | {met} |",
                          self.line(**beside, bar=1.15, bar_from=0.9, better="lower"))

    def test_the_spread_is_that_of_the_rounds_in_the_unit_of_the_figure(self):
        for kind, taken, text in ((rows.VALUES, [16.0, 20.0, 25.0], "16 to 25"), (rows.VALUES, [40.0, 50.0, 62.5], "40 to 62.5"),
                                  (rows.NS_OF_EACH, [40.0, 50.0, 62.5], "16 to 25"), (rows.NS_OF_EACH, [25.0, 50.0, 62.5], "16 to 40"),
                                  (rows.OTHERS, [3.0, 4.0, 5.0], "50 % of the rounds"), (rows.OTHERS, [16.0, 20.0, 25.0], "45 % of the rounds")):
            self.assertIn(f"| 20 Mpps | {text} |", self.line(rounds=taken, rounds_are=kind))
        self.assertIn("| 20 Mpps |  |", self.line())

    def test_a_spread_about_nothing_is_told(self):
        self.assertEqual(rows.spread_text({"value": 0, "rounds": [0, 0, 3], "rounds_are": rows.VALUES}, str), "0 to 3")

    def test_rows_that_were_kept_before_they_said_what_their_rounds_are(self):
        self.assertIn("| 20 Mpps | 16 to 25 |", self.line(rounds=[16.0, 20.0, 25.0]))
        self.assertIn("| 20 Mpps | 16 to 25 |", self.line(rounds=[40.0, 50.0, 62.5]), "ns of a packet")
        self.assertIn("| 20 Mpps | 50 % of the rounds |", self.line(rounds=[3.0, 4.0, 5.0]), "of another kind")

    def test_every_row_with_rounds_says_what_they_are(self):
        medians = {"ours": rows.Median([1.0, 2.0]), "theirs": rows.Median([1.0])}
        self.assertEqual(rows.compared("F1", "case", medians, "Mpps")["rounds_are"], rows.VALUES)
        self.assertNotIn("rounds_are", rows.compared("F3", "case", {"ours": 1.0, "theirs": 2.0}, "ns"))
        for name, unit, kind in (("P8", "Mpps", rows.NS_OF_EACH), ("H1", "M requests/s", rows.NS_OF_EACH), ("R1", "Mpps", rows.VALUES),
                                 ("R1", "us", rows.VALUES), ("P2", "ns added per packet", rows.OTHERS), ("X1", "ns", rows.VALUES)):
            done = in_process.finished({"id": name, "case": "c", "value": 31.6, "unit": unit, "rounds": [31.6, 31.7]})
            self.assertEqual(done["rounds_are"], kind, (name, unit))
        self.assertNotIn("rounds_are", in_process.finished({"id": "P5", "case": "c", "value": 1, "unit": "buckets"}))

    def test_a_case_may_have_bars_of_its_own(self):
        self.assertIn("| prefix(ip.src, 24\\|64) | 20 Mpps |", self.line(case="prefix(ip.src, 24|64)"))

    def test_the_dearest_head_has_a_bar_of_its_own_time(self):
        def head(case):
            return in_process.finished({"id": "H0", "case": case, "value": 4200.0, "unit": "ns", "ratio": 9.5,
                                        "reference": "memchr of its line ends", "reference_value": 442.0})

        hostile = head("a hostile head, 680 lines without a colon, 16000 bytes")
        self.assertEqual((hostile["bar"], hostile["bar_of"], hostile["better"]), (5000, "value", "lower"))
        self.assertIsNone(head("a hostile head, 680 folded lines, 16000 bytes")["bar"])

    def test_what_was_measured_together_stands_together(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results.json"
            results.keep([row("P1", 1), row("T10", 2), row("T2", 3)], RUN, path)
            results.keep([row("A1", 4)], {**RUN, "date": "2026-11-27", "quick": True}, path)
            text = report.report(results.load(path))
        self.assertLess(text.index("## 2026-11-27, a machine, 2 cores, 4 KB pages, commit abc, short rounds"), text.index("## 2026-11-26"))
        self.assertLess(text.index("| T2 |"), text.index("| T10 |"))

    def test_the_front_page_changes_between_its_marks_alone(self):
        page = f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n"
        text = report.front(report.summary(kept([row("F1", 3.5, case="(a) one rule: some", reference="x", reference_value=7, ratio=0.5, bar=0.38)]), ""), page)
        self.assertTrue(text.startswith(f"before\n{report.BEGIN}\n| what |") and text.endswith(f"{report.END}\nafter\n"))
        self.assertIn("| F1: the whole program, one worker | 3.5 Mpps | x: 7 | 0.5 | 0.38 met | 2026-11-26 |\n", text)
        self.assertNotIn("old", text)


class Summary(unittest.TestCase):
    def test_ids_that_were_not_measured_again_keep_their_lines(self):
        before = report.summary(kept([row("T1", 1, bar=2), row("T2", 2, case="a|b", bar=2)]), "")
        after = report.summary(kept([row("T1", 3, bar=2)], run={**RUN, "date": "2026-11-27"}), before)
        lines = {title[:10]: [line[:3] for line in lines] for title, lines in report.parsed(after).items()}
        self.assertEqual(lines, {"2026-11-27": [["T1", "a case", "3 Mpps"]], "2026-11-26": [["T2", "a|b", "2 Mpps"]]})
        self.assertEqual(report.summary({}, after), after)

    def test_a_row_without_a_figure_reads_as_it_was_written(self):
        text = report.summary(kept([row("W6", None)]), "")
        self.assertEqual(report.summary({}, text), text)

    def test_rows_without_a_bar_stand_for_their_id_alone(self):
        text = report.summary(kept([row("T1", 1), row("T1", 2, bar=1), row("T2", 3), row("T2", 4)]), "")
        self.assertEqual([line[2] for lines in report.parsed(text).values() for line in lines], ["2 Mpps", "3 Mpps"])


class Drawing(unittest.TestCase):
    def test_points_become_lines_and_so_does_what_they_are_beside(self):
        measured = [rows.in_plot(row("T1", 10.0 * x, reference="roof", reference_value=20.0), "keys", x, "Sluice & co")
                    for x in (1024, 1 << 20)]
        measured.append(rows.in_plot(row("T3", 5.0), "keys", "all new", "Sluice & co"))
        plots = report_plot.points_of(kept(measured))
        self.assertEqual(plots, {"keys": {"T: Mpps": {
            "Sluice & co": {1024: 10240.0, 1 << 20: 10485760.0, "all new": 5.0}, "roof": {1024: 20.0, 1 << 20: 20.0}}}})
        drawn = report_plot.draw("keys", plots["keys"])
        words = [each.text for each in xml.etree.ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
        for word in ("2^10", "2^20", "all new", "Sluice & co", "roof", "T: Mpps, over live keys"):
            self.assertIn(word, words)
        self.assertLess(words.index("2^20"), words.index("all new"))

    def test_values_far_apart_lie_on_a_logarithmic_axis(self):
        self.assertTrue(report_plot.Axis([1, 100]).log)
        self.assertFalse(report_plot.Axis([10, 100]).log)
        for values in ([1, 100], [10, 100], [0, 3], [0]):
            axis = report_plot.Axis(values)
            self.assertLessEqual(len(axis.ticks()), 12)
            for tick in axis.ticks():
                self.assertTrue(report_plot.TOP <= axis.at(tick) <= report_plot.TOP + report_plot.HEIGHT, (values, tick))

    def test_there_is_no_plot_by_another_name(self):
        with self.assertRaises(ValueError):
            rows.in_plot(row("T1", 1), "key", 1, "Sluice")


class Terminal(unittest.TestCase):
    def texts(self, drawn):
        """(words, column, line) of each text."""
        for each in xml.etree.ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text"):
            column = (float(each.get("x")) - plot_terminal.MARGIN) / plot_terminal.COLUMN
            line = (float(each.get("y")) - plot_terminal.BAR - plot_terminal.MARGIN) / plot_terminal.LINE - 0.7
            self.assertAlmostEqual(float(each.get("textLength")), len(each.text) * plot_terminal.COLUMN, delta=0.1)
            yield each.text, round(column), round(line)

    def test_each_line_stands_in_its_columns(self):
        drawn, count = plot_terminal.draw(json.dumps([["sluicectl a", "A  <B> & \"C\"\n  1"], ["sluicectl b", "\n2  "]]))
        self.assertEqual(count, 2)
        self.assertEqual(list(self.texts(drawn)), [("# sluicectl a", 0, 0), ('A  <B> & "C"', 0, 1), ("1", 2, 2),
                                                   ("# sluicectl b", 0, 4), ("2", 0, 6)])

    def test_the_front_page_shows_what_would_be_asked_today(self):
        drawn = (ROOT / plot_terminal.TARGET).read_text(encoding="utf-8")
        asked = [words for words, _, _ in self.texts(drawn) if words.startswith("# ")]
        self.assertEqual(asked[1:], [f"# sluicectl {' '.join(words)}" for words in plot_terminal.QUESTIONS])
        self.assertIn(f"]({plot_terminal.TARGET})", (ROOT / "README.md").read_text(encoding="utf-8"))


class HowFarItIs(unittest.TestCase):
    def test_it_says_the_row_of_how_many_and_how_long(self):
        self.assertEqual(progress.text(["T1", "T2"], 0, 11, 3.2), "T1, T2: row 1 of about 11, 3 s")
        self.assertEqual(progress.text(["T1"], 5, 11, 50), "T1: row 6 of about 11, 50 s, about 60 s left")
        self.assertEqual(progress.text(["T1"], 4, 3, 40), "T1: row 5 of about 5, 40 s, about 10 s left")
        self.assertEqual(progress.expected_rows(["T1", "T9"], {"T1": {"rows": [1, 2]}}), 3)

    def run_on(self, stream):
        """A note and a row with both streams there -> whether anything goes on beside them."""
        with contextlib.redirect_stderr(stream), contextlib.redirect_stdout(stream):
            with progress.Progress(4) as far:
                far.now(["T1"])
                rows.note("a note")
                rows.Lines().show(row("T1", 1))
                far.add_row()
                return far.thread.is_alive()

    def test_a_terminal_shows_it_and_is_left_clean(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        with open(theirs, "w", encoding="utf-8") as stream, contextlib.redirect_stderr(stream):
            shown = ""
            with progress.Progress(4) as far:
                far.now(["T1"])
                while "T1: row 1 of about 4, " not in shown:
                    shown += os.read(ours, 4096).decode()
                rows.note("a note")
            self.assertFalse(far.thread.is_alive())
            while not shown.endswith("\r\033[K") or "a note" not in shown:
                shown += os.read(ours, 4096).decode()
            self.assertIn("\r\033[Ka note", shown)

    def test_what_is_no_terminal_gets_none(self):
        stream = io.StringIO()
        self.assertFalse(self.run_on(stream))
        self.assertEqual(stream.getvalue(), "a note\n" + json.dumps(row("T1", 1)) + "\n")


class Figures(unittest.TestCase):
    def found(self, text):
        return [figure for _, figure in lint_figures.figures(text)]

    def test_speeds_by_hand_are_found(self):
        self.assertEqual(self.found("it takes 12.5 ns, 27 Mpps, 1.7 M requests/s, 0.96 M/s, 61 cycles; 2 million packets a second"),
                         ["12.5 ns", "27 Mpps", "1.7 M requests/s", "0.96 M/s", "61 cycles", "2 million packets a second"])

    def test_numbers_that_are_none_are_not(self):
        self.assertEqual(self.found("rate: 1M/s, 200 ms, one turn in 256, cycles by stage, `ns` of 3"), [])
        self.assertEqual(self.found("2^56 ns at most <!-- arithmetic -->"), [])
        self.assertEqual(self.found(f"{lint_figures.BEGIN}\n| 27 Mpps |\n{lint_figures.END}\n3 ns"), ["3 ns"])


class Described(unittest.TestCase):
    PAGE = ROOT / "scripts/DESIGN.md"

    def ids_of(self, cell):
        """Ids of the first cell of a line: `T1` to `T4` are four."""
        for first, last in re.findall(r"`(\w+)`(?: to `(\w+)`)?", cell):
            letters, begin = first.rstrip("0123456789"), first.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
            yield from ([f"{letters}{number}" for number in range(int(begin), int(last.removeprefix(letters)) + 1)] if last else [first])

    def test_every_id_of_the_command_is_in_its_table(self):
        table = self.PAGE.read_text(encoding="utf-8").split("| id | what | beside |")[1].split("\n\n")[0]
        described = [name for line in table.splitlines() if line.startswith("| `") for name in self.ids_of(line.split("|")[1])]
        self.assertEqual(sorted(described), sorted(bench.BENCHES))


class Committed(unittest.TestCase):
    def test_the_front_page_says_what_the_summary_says(self):
        self.assertEqual(report.write(check=True), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
