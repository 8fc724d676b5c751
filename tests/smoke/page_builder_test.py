"""The builder: a rule from its form to applied and confirmed, and one that goes back; texts of others, problems at their lines.

    page_builder_test.py PAGE MODULES [short | TEST...]
"""
from page_case import HOSTILE, main, PageCase
from page_work import EDITOR, WorkCase
from programs import wait_until

import page.builder as answers
import page.judged as judged

SHORT = ("Builder.test_from_the_form_to_confirmed", "Builder.test_a_ban_is_nobodys_change_and_a_trial_ends_by_its_text",
         "Builder.test_a_trial_of_others_is_not_confirmed_as_ones_own", "Builder.test_a_rate_that_is_half_typed_keeps_its_form",
         "Builder.test_texts_of_others_and_problems_at_their_lines",
         "Builder.test_a_preview_and_a_capture_say_what_the_draft_would_do", "Builder.test_tiers_are_made_changed_and_left_out")


class Builder(WorkCase, PageCase):
    def open(self, fragment="#/builder?rule=login", **work):
        stand_in = self.begin()
        answers.of(stand_in).update(work)
        self.enter(stand_in)
        self.go(fragment)
        return stand_in, answers.of(stand_in)

    def go(self, fragment):
        self.browser.run("location.hash = arguments[0]", fragment)
        self.browser.wait_for("the form", "return document.querySelector('.builder .sentence') !== null")

    def test_from_the_form_to_confirmed(self):
        stand_in, work = self.open()
        self.wait_for_text("# of the shop")
        before = self.text()
        self.set("Rate of limit 1", "200")
        self.wait_for_text("rate: 200/m")
        self.assertEqual(self.text(), before.replace("300/m", "200/m"))  # and nothing else
        self.browser.wait_for("the promise", "return document.querySelector('.promise').innerText === 'the most in any minute: 350'")
        self.press("Review")
        self.browser.wait_for("the difference", "return document.querySelector('.set-diff') !== null")
        self.assertIn("starts anew", self.browser.text(".set-diff"))
        self.press("Apply for 60 s")
        self.browser.wait_for("the trial", "return document.querySelector('.on-trial table') !== null")
        [sent] = [call for call in stand_in.asked if call[0] == "PUT"]
        self.assertEqual(sent[1], "/v1/rules/login?confirm=60s&file=rules.yaml")
        self.assertEqual(sent[2], {"rules": before.replace("300/m", "200/m")})
        self.assertEqual(stand_in.if_match, f'"{answers.TAG}"')
        stand_in.box = {**stand_in.box, "generation": "00f1e2d3c4b5a698"}
        work["text"] = work["text"].replace("300/m", "200/m")
        self.browser.wait_for("the way to confirm", "return document.querySelector('.trial') !== null")
        self.press("Confirm this rule")
        self.browser.wait_for("the end", "return document.body.innerText.includes('It is confirmed, and stays in force')")
        self.browser.wait_for("nothing is left to do", "return document.body.innerText.includes('Nothing is changed.')")
        self.assertEqual(self.browser.run("return Object.keys(sessionStorage)"), ["sluice.session"])
        self.nothing_amiss()

    def test_tiers_are_made_changed_and_left_out(self):
        self.open()
        self.wait_for_text("# of the shop")
        self.press("Add a coarser tier")
        self.browser.wait_for("two tiers", "return document.querySelectorAll('.builder legend').length === 4")  # in both steps
        self.set("Key part 1 of tier 2", "ip.dst")
        self.set("Rate of limit 2", "7")
        self.wait_for_text("rate: 7/m")
        self.assertIn("ip.dst", self.text())
        self.press("Leave tier 1 out")
        self.browser.wait_for("one grouping", "return document.querySelector('.builder legend') === null")
        self.assertNotIn("tiers", self.text())
        self.assertIn("rate: 7/m", self.text())
        self.nothing_amiss()

    def test_one_that_is_left_goes_back_and_its_draft_stays(self):
        stand_in, _ = self.open()
        self.set("Rate of limit 1", "200")
        self.press("Review")
        self.press("Apply for 60 s")
        self.browser.wait_for("the trial", "return document.querySelector('.trial') !== null && document.querySelector('.on-trial') !== null")
        stand_in.trial = None  # nobody has confirmed
        self.browser.wait_for("the end", "return document.body.innerText.includes('It went back')")
        self.wait_for_text("rate: 200/m")
        self.browser.run("location.hash = '#/overview'")
        self.browser.wait_for("another screen", "return document.querySelector('.tiles') !== null")
        self.go("#/builder?rule=login")
        self.wait_for_text("rate: 200/m")
        self.assertIn("This is the draft that you left", self.browser.text(".head"))
        self.press("Begin anew")
        self.wait_for_text("rate: 300/m")
        self.nothing_amiss()

    def test_a_ban_is_nobodys_change_and_a_trial_ends_by_its_text(self):
        stand_in, work = self.open(judges_tags=True)
        self.set("Rate of limit 1", "200")
        self.press("Review")
        self.browser.wait_for("the difference", "return document.querySelector('.set-diff') !== null")
        work["tag"] = "0000000000000001-0011223344556677"  # somebody has banned a key: nothing else is another one
        self.press("Apply for 60 s")
        self.browser.wait_for("the trial", "return document.querySelector('.trial') !== null && document.querySelector('.on-trial') !== null")
        self.assertNotIn("changed the rules", self.browser.text("main"))
        work.update(text=work["text"].replace("300/m", "200/m"), tag="0000000000000002-0011223344556677")  # and once more
        stand_in.box = {**stand_in.box, "generation": "0000000000000002"}
        self.press("Confirm this rule")
        self.browser.wait_for("the end", "return document.body.innerText.includes('It is confirmed, and stays in force')")
        self.assertEqual(stand_in.if_match, '"0000000000000002-0011223344556677"')
        self.nothing_amiss(but=("412",))

    def test_a_trial_of_others_is_not_confirmed_as_ones_own(self):
        stand_in, work = self.open(judges_tags=True)
        self.set("Rate of limit 1", "200")
        self.press("Review")
        self.press("Apply for 60 s")
        self.browser.wait_for("the trial", "return document.querySelector('.trial') !== null && document.querySelector('.on-trial') !== null")
        work.update(file=work["file"].replace("rate: 1/s", "rate: 999/s"), tag="0000000000000003-0011223344556677")  # bob's, in the same trial
        self.press("Confirm this rule")
        self.browser.wait_for("the refusal", "return document.body.innerText.includes('not only, what this tab has applied')")
        self.assertIsNotNone(stand_in.trial)
        stand_in.trial = {**stand_in.trial, "until": "2099-01-01T00:00:00Z"}  # bob's own trial
        self.browser.wait_for("the word of it", "return document.body.innerText.includes('Somebody has put other rules on trial in place of these')")
        self.wait_for_text("rate: 200/m")
        self.assertEqual(self.browser.run("return document.querySelector('.on-trial')"), None)
        self.nothing_amiss(but=("412",))

    def test_problems_of_other_rules_and_limits_with_a_name_lead_to_where_they_stand(self):
        text = answers.TEXT.replace("[{algorithm: token_bucket, rate: 300/m, burst: 50}]", "[per-source]")
        file = answers.FILE.replace(answers.TEXT, text).replace("rules:", "limits:\n  per-source: {algorithm: token_bucket, rate: 5/s, burst: 5}\nrules:")
        problem = {"severity": "warning", "line": 14, "column": 3, "length": 2, "path": "", "file": "rules.yaml", "text": "this rule can be walked around"}
        self.open(text=text, file=file, problems=[problem])
        self.browser.wait_for("the other rule", "return document.querySelector('.text-problems li')?.innerText.startsWith('Rule other, rules.yaml line 14: Warning')")
        self.assertEqual(self.browser.run(f"return {EDITOR}?.querySelectorAll('.cm-lintRange').length ?? 0"), 0)  # nothing of this text is marked
        self.browser.run("[...document.querySelectorAll('.limits a')].find((a) => a.innerText === 'Go to them').click()")
        self.browser.wait_for("its line", "return document.querySelector('main')?.innerText.includes('The limit per-source stands in line 3.')")
        self.nothing_amiss()

    def test_what_is_typed_and_not_added_is_not_forgotten(self):
        self.open()
        self.set("Rate of limit 1", "200")
        self.wait_for_text("rate: 200/m")
        self.set("New row: value", "53")
        self.browser.wait_for("the reason", "return document.body.innerText.includes('“l4.dport eq 53” is typed in step 2 and not added: add it, or empty its box')")
        self.press("And")
        self.wait_for_text("l4.dport eq 53")
        self.press("Review")
        self.nothing_amiss()

    def test_a_rate_that_is_half_typed_keeps_its_form(self):
        self.open()
        self.wait_for_text("rate: 300/m")
        self.browser.run("""const at = document.querySelector('[aria-label="Rate of limit 1"]'); at.focus(); at.setSelectionRange(3, 3)""")
        self.browser.press("\ue003", "\ue003", "\ue003")
        self.browser.wait_for("the reason", "return document.body.innerText.includes('a rate wants a number')")
        self.assertEqual(self.browser.run("return [document.activeElement.value, document.querySelectorAll('.sentence select').length > 3]"), ["", True])
        self.browser.press("2", "0")
        self.wait_for_text("rate: 20/m")
        self.assertEqual(self.browser.run("return document.activeElement.value"), "20")
        self.set("At once of limit 1", "")
        self.set("At once of limit 1", "77")
        self.wait_for_text("burst: 77}")
        self.nothing_amiss()

    def test_texts_of_others_and_problems_at_their_lines(self):
        texts = [text for text, _ in HOSTILE]
        problems = [{"severity": "error", "line": 3 + at % 2, "column": 9, "length": 7, "path": "", "text": text, "hint": text} for at, text in enumerate(texts)]
        self.open(problems=problems)
        self.browser.wait_for("the problems", "return document.querySelectorAll('.text-problems li').length === arguments[0]", len(problems))
        for _, shown in HOSTILE:
            with self.subTest(shown[:40]):
                self.judge("problems", shown, 2)
        self.wait_for_text("l4.dport")
        self.assertEqual(self.browser.run(f"return {EDITOR}.querySelector('.cm-lintRange-error').textContent"), "l4.dpor")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('main .verb button')].map((b) => [b.disabled, b.parentElement.innerText])"),
                         [[False, "How much each row matches"], [True, "Previewit has errors"], [True, "Reviewnothing is changed"]])
        self.nothing_amiss()

    def test_a_set_that_others_have_changed_keeps_the_draft(self):
        stand_in, work = self.open(refusal=(412, {"title": "other rules are in force", "detail": "not yours"}))
        stand_in.set_text = "bob"
        self.set("Rate of limit 1", "200")
        self.press("Review")
        self.press("Apply for 60 s")
        self.browser.wait_for("the refusal", "return document.body.innerText.includes('bob has changed the rules')")
        self.wait_for_text("rate: 200/m")
        work.update(refusal=None, tag="another-tag")
        self.press("Compare with what is in force now")
        self.browser.wait_for("the notice to go", "return !document.body.innerText.includes('bob has changed')")
        self.press("Review")
        self.press("Apply for 60 s")
        wait_until("the change", lambda: stand_in.trial is not None)
        self.assertEqual(stand_in.if_match, '"another-tag"')
        self.nothing_amiss(but=("412",))

    def test_a_link_that_brings_a_condition_keeps_the_draft(self):
        self.open()
        self.wait_for_text("rate: 300/m")
        self.set("Rate of limit 1", "200")
        self.wait_for_text("rate: 200/m")
        self.browser.run("location.hash = '#/overview'")
        self.browser.wait_for("another screen", "return document.querySelector('.tiles') !== null")
        self.go("#/builder?rule=login&condition=l4.sport+eq+7")
        self.wait_for_text("l4.sport eq 7")
        self.wait_for_text("rate: 200/m")
        self.assertEqual(self.browser.run("return location.hash"), "#/builder?rule=login")  # it is brought once
        self.set("Rate of limit 1", "100")
        self.wait_for_text("rate: 100/m")
        self.browser.run("location.reload()")
        self.wait_for_text("rate: 100/m")
        self.assertEqual(self.text().count("l4.sport eq 7"), 1)
        self.nothing_amiss()

    def test_a_copy_is_a_new_rule_in_monitor(self):
        self.open("#/builder?copy=login")
        self.wait_for_text("id: login-copy  # of the shop")
        self.wait_for_text("mode: monitor")
        self.wait_for_text("rate: 300/m")
        self.assertIn("A new rule", self.browser.text(".head"))
        self.assertEqual(self.browser.run("return location.hash"), "#/builder")
        self.browser.run("location.hash = '#/builder?copy=other'")
        self.browser.wait_for("the reason", "return document.body.innerText.includes('another new rule is being written')")
        self.nothing_amiss()

    def test_a_new_rule_on_trial_shows_its_row_whatever_others_are_called(self):
        stand_in, _ = self.open("#/builder?copy=login")
        self.wait_for_text("id: login-copy")
        [row, *_] = stand_in.rules
        stand_in.rules = [{**row, "id": f"a-login-copy-{n}"} for n in range(300)] + [{**row, "id": "login-copy", "mode": "monitor"}]
        self.press("Review")
        self.press("Apply for 60 s")
        self.browser.wait_for("its row", "return document.querySelector('.on-trial table')?.innerText.includes('Would refuse by login-copy') ?? false")
        self.nothing_amiss()

    def test_nothing_is_applied_over_what_could_not_be_read(self):
        stand_in, work = self.open()
        self.wait_for_text("rate: 300/m")
        self.set("Rate of limit 1", "200")
        self.press("Review")
        self.press("Apply for 60 s")
        work.update(unread=(503, {"title": "busy", "detail": "not now"}), text=work["text"].replace("300/m", "200/m"))
        stand_in.box = {**stand_in.box, "generation": "00f1e2d3c4b5a698"}
        self.browser.wait_for("the way to confirm", "return document.querySelector('.trial') !== null")
        self.press("Confirm this rule")
        self.browser.wait_for("nothing is left to do", "return document.body.innerText.includes('Nothing is changed.')")
        self.set("Rate of limit 1", "100")
        self.press("Review")
        self.press("Apply for 60 s")
        self.browser.wait_for("the reason", "return document.body.innerText.includes('could not be read: compare first')")
        self.assertEqual(len([call for call in stand_in.asked if call[0] == "PUT"]), 1)
        work.update(unread=None, tag="another-tag")
        self.press("Compare with what is in force now")
        self.browser.wait_for("the notice to go", "return !document.body.innerText.includes('nobody knows')")
        self.press("Review")
        self.press("Apply for 60 s")
        wait_until("the change", lambda: stand_in.trial is not None)
        self.assertEqual(stand_in.if_match, '"another-tag"')
        self.nothing_amiss(but=("503",))

    def test_by_keyboard_on_a_phone_and_in_both_colours(self):
        for width, height, dark in ((1280, 800, False), (390, 844, True)):
            self.browser.show_as(width, height, dark)
            self.open()
            self.wait_for_text("of the shop")
            self.judge_screen(f"builder-{width}-{'dark' if dark else 'light'}", width)
            self.judge_access()
        self.assertEqual(self.browser.run("return document.querySelectorAll('.code textarea').length"), 1)
        self.nothing_amiss()

    def test_the_editor_types_and_offers_and_lets_go(self):
        stand_in, _ = self.open()
        self.wait_for_text("of the shop")
        self.browser.run(f"{EDITOR}.querySelector('.cm-content').focus()")
        self.browser.press("\ue010", "Enter", *"per: r")  # End of the first line
        self.wait_for_text("per: r")
        self.assertEqual(self.browser.run("return location.hash"), "#/builder?rule=login")  # `g`, `r` are letters here
        self.browser.press("Escape", "Escape", "Tab")
        self.assertNotEqual(self.browser.run("return document.activeElement.className"), "editor")
        self.assertTrue(stand_in.asked)
        self.nothing_amiss()

    def test_without_a_role_the_reason_stands_there(self):
        stand_in = self.begin()
        stand_in.who = {**stand_in.who, "role": "view", "verbs": {}, "needs": {"apply": "admin", "diff": "operate"}}
        self.enter(stand_in)
        self.go("#/builder?rule=login")
        self.set("Rate of limit 1", "200")
        self.browser.wait_for("the reason", "return document.body.innerText.includes('your role is view; this wants operate')")
        self.nothing_amiss()

    def preview_done(self):
        self.press("Preview")
        self.browser.wait_for("the sentence", "return document.querySelector('.judged .says') !== null")

    def drop(self, name, size):
        self.browser.wait_for("a draft that is checked", """return document.querySelector('[aria-label="Capture to replay"]')?.disabled === false""")
        self.browser.run("""const file = new File([new Uint8Array(arguments[1]).fill(7)], arguments[0]);
            const data = new DataTransfer(); data.items.add(file);
            document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}))""", name, size)

    def test_a_preview_and_a_capture_say_what_the_draft_would_do(self):
        stand_in, _ = self.open()
        self.preview_done()
        said = self.browser.text(".judged")
        for words in ("About, over 193\u2009750 packets", "3.1 M requests match", "one group of 16 was watched", "192.0.2.7", "1\u2009204 of 51\u2009000"):
            self.assertIn(words, said)
        self.assertEqual(self.browser.run("return document.querySelectorAll('.judged canvas[role=img], .judged [role=img]').length > 1"), True)
        self.assertEqual(self.browser.run("return document.querySelector('.judged a').getAttribute('href')"), "#/key/login?key=192.0.2.7")
        [sent] = [call for call in stand_in.asked if call[:2] == ("POST", "/v1/previews?file=rules.yaml&rule=login")]
        self.assertEqual((sent[2]["seconds"], sent[2]["text"]), (20, self.text()))
        self.assertIn("about 51 k in the 20 s that were watched", self.browser.text(".cost"))
        self.assertIn("all of them about 1.22 MB", self.browser.text(".cost"))
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('[id=\"offered-http.host\"] option')].map((o) => o.value)"), ["shop.example"])
        self.assertIn("By the 20 s that were watched", self.browser.text(".lately"))
        self.set("Rate of limit 1", "200")
        self.browser.wait_for("the older draft", "return document.querySelector('.judged.old') !== null")
        self.drop("flood <b>.pcap", 1000)
        self.browser.wait_for("the capture", "return document.querySelector('.judged .says')?.innerText.includes('900 requests match')")
        said = self.browser.text(".judged")
        for words in ("Exact, over 1\u2009234 packets of capture flood <b>.pcap", "login (this draft)", "other"):
            self.assertIn(words, said)
        self.assertEqual(judged.of(stand_in)["captured"], bytes([7]) * 1000)
        self.drop("large.pcap", 9 << 20)
        self.browser.wait_for("the bound", "return document.body.innerText.includes('at most 8 MiB here: send a part of it')")
        self.nothing_amiss()

    def test_a_preview_ends_with_the_draft_and_with_the_screen(self):
        stand_in, _ = self.open()
        now = judged.of(stand_in)
        now["readings"] = 10**6
        ended = lambda: [call[1] for call in stand_in.asked if call[0] == "DELETE"]
        self.press("Preview")
        self.browser.wait_for("progress", "return document.querySelector('.preview progress')?.value === 7.3")
        self.press("Cancel")
        wait_until("the end", lambda: ended() == ["/v1/previews/1a-0"])
        self.press("Preview")
        self.browser.wait_for("progress", "return document.querySelector('.preview progress') !== null")
        self.set("Rate of limit 1", "200")
        self.browser.wait_for("the reason", "return document.body.innerText.includes('the draft was changed meanwhile')")
        self.press("Preview")
        self.browser.wait_for("progress", "return document.querySelector('.preview progress') !== null")
        self.browser.run("location.hash = '#/overview'")
        wait_until("the end", lambda: ended() == [f"/v1/previews/1a-{at}" for at in range(3)])
        self.nothing_amiss()

    def test_what_cannot_be_previewed_says_why(self):
        stand_in, _ = self.open()
        now = judged.of(stand_in)
        now["refusal"] = (422, {"title": "the draft does not compile", "detail": "x", "problems": [{"severity": "error", "line": 3, "text": HOSTILE[0][0]}]})
        self.press("Preview")
        self.browser.wait_for("the reason", "return document.querySelector('.preview .not-done')?.innerText.includes('does not compile')")
        self.judge("a problem", HOSTILE[0][1], 1)
        now["refusal"], now["ended"] = None, (410, {"title": "the preview has ended", "detail": "the dataplane went away"})
        self.press("Preview")
        self.browser.wait_for("the reason", "return document.body.innerText.includes('the dataplane went away')")
        now["refusal"] = (422, {"title": "no whole capture", "detail": "it ends inside its record 3"})
        self.drop("cut.pcap", 10)
        self.browser.wait_for("the reason", "return document.body.innerText.includes('Not replayed: no whole capture: it ends inside its record 3')")
        self.nothing_amiss(but=("422", "410"))

    def test_rows_say_how_much_they_match(self):
        stand_in, _ = self.open()
        judged.of(stand_in)["passing"] = {None: 2000, "l4.dport eq 80": 500, 'http.request.uri.path eq "/login"': 5}
        self.press("How much each row matches")
        self.browser.wait_for("the rates", "return document.querySelectorAll('.row-rate').length === 2")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.row-rate')].map((one) => one.innerText)"),
                         ["about 25 % of packets", "about 0.3 % of packets"])
        self.nothing_amiss()


if __name__ == "__main__":
    main(SHORT)
