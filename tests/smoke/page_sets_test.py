"""Rule sets: the text of their files, changed on trial, their history and the way back.

    page_sets_test.py PAGE MODULES [short | TEST...]
"""
from page_case import HOSTILE, main, PageCase
from page_work import WorkCase
from programs import wait_until

import page.builder as answers

SHORT = ("Sets.test_a_file_is_changed_on_trial_and_confirmed",)


class Sets(WorkCase, PageCase):
    def open(self, **work):
        stand_in = self.begin()
        answers.of(stand_in).update(work)
        self.enter(stand_in)
        self.browser.run("location.hash = '#/sets'")
        self.browser.wait_for("the text", "return document.querySelector('.code') !== null")
        return stand_in

    def write(self, text):
        """Into the plain box that phones have."""
        self.browser.wait_for("the box", "return document.querySelector('.code textarea') !== null")
        self.browser.run("const at = document.querySelector('.code textarea'); at.value = arguments[0]; at.dispatchEvent(new Event('input', {bubbles: true}))", text)

    def test_a_file_is_changed_on_trial_and_confirmed(self):
        self.browser.show_as(390, 844)
        stand_in = self.open()
        self.write(answers.FILE.replace("300/m", "200/m"))
        self.press("Review")
        self.browser.wait_for("the differences", "return document.querySelector('.set-diff') !== null && document.querySelector('.diff .in') !== null")
        [sent] = [call for call in stand_in.asked if call[1].startswith("/v1/rules/diff")]
        self.assertEqual(sent[1:], ("/v1/rules/diff?directory=%2Fetc%2Fsluice&file=rules.yaml", {"rules": answers.FILE.replace("300/m", "200/m")}))
        self.judge_access()
        self.judge_screen("sets-390", 390)
        self.press("Apply for 60 s")
        wait_until("the change", lambda: stand_in.trial is not None)
        [sent] = [call for call in stand_in.asked if call[0] == "PUT"]
        self.assertEqual(sent[1], "/v1/rules?confirm=60s&directory=%2Fetc%2Fsluice&file=rules.yaml")
        self.assertEqual(stand_in.if_match, f'"{answers.TAG}"')
        self.browser.wait_for("the trial", "return document.querySelector('.trial') !== null")
        stand_in.box = {**stand_in.box, "generation": "00f1e2d3c4b5a698"}
        answers.of(stand_in)["file"] = answers.FILE.replace("300/m", "200/m")
        stand_in.trial = None
        self.browser.wait_for("the end", "return document.body.innerText.includes('It is confirmed, and stays in force')")
        self.nothing_amiss()

    def test_a_set_before_comes_back_with_its_difference_first(self):
        stand_in = self.open()
        self.press("Go back…")
        self.browser.wait_for("the difference", "return document.body.innerText.includes('Going back to set 7 changes')")
        self.press("Go back to it for 60 s")
        wait_until("the call", lambda: any(call[1] == "/v1/rollback?set=7&confirm=60s" for call in stand_in.asked))
        self.nothing_amiss()

    def test_texts_of_others(self):
        for text, shown in (HOSTILE[0], HOSTILE[2], HOSTILE[17]):
            stand_in = self.begin(set_text=text)
            answers.of(stand_in)["problems"] = [{"severity": "error", "line": 3, "column": 9, "length": 7, "path": "", "text": text, "hint": text}]
            self.enter(stand_in)
            self.browser.run("location.hash = '#/sets'")
            self.browser.wait_for("the history", "return document.querySelectorAll('main td').length > 5 && document.querySelector('.text-problems li') !== null")
            self.judge("sets", shown, 8)
            self.nothing_amiss()


if __name__ == "__main__":
    main(SHORT)
