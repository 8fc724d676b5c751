"""The screen Nodes of the dashboard, in Chromium.

    page_nodes_test.py PAGE MODULES [short | TEST...]
"""
from page.nodes import cluster, fleet, HEAD, LINK, node, ROLLOUT
from page_case import HOSTILE, main, PageCase

SHORT = ("Nodes.test_boxes_a_rollout_and_the_link_to_the_store", "Nodes.test_texts_of_other_boxes_are_text")
ROWS = "document.querySelectorAll('table.nodes tbody tr').length"


class Nodes(PageCase):
    def show_cluster(self, shown, ready):
        stand_in = self.begin(cluster_shown=shown)
        self.enter(stand_in)
        self.open("nodes", ready)
        return stand_in

    def test_boxes_a_rollout_and_the_link_to_the_store(self):
        nodes = [node(0, generation=5, runs="trial"), node(1, verdict={"good": False, "why": "no room for its table"}), node(2, runs="detached")]
        stand_in = self.show_cluster(cluster(fleet=fleet(nodes, rollout=ROLLOUT, drained=["edge-9"], away=["edge-8"])), f"{ROWS} === 3")
        shown = self.browser.text("main").replace("\u00a0", " ")
        for words in ("3 of 4 slots are held", "edge-1 this box", "on trial", "its own (detached)", "generation 5", "on trial on some boxes", "no room for its table",
                      "cannot run it", "edge-9 is drained", "edge-8 is away", "sluicectl rollout abort", "The link is ready", "by ada@desk"):
            self.assertIn(words, shown)
        self.judge_screen("nodes-1280", 1280)
        self.judge_access()
        self.browser.show_as(390, 844)
        self.judge_screen("nodes-390", 390)
        # The store goes, and then etcd.
        stand_in.cluster_shown = cluster(store={**LINK, "state": "fenced", "down": True, "why": "another box has joined as edge-1 since"},
                                         fleet=fleet(nodes, problem="etcd: Connection refused", age_s=75))
        self.browser.wait_for("both", "const t = document.querySelector('main').innerText; return t.includes('The link is fenced, and limits go by owner_down: another box')"
                              " && t.includes('etcd: Connection refused') && !t.includes('Rollout under way')")
        self.nothing_amiss()

    def test_nothing_to_show_says_why(self):
        stand_in = self.show_cluster(None, "document.querySelector('main .empty')?.innerText.includes('This box is in no cluster: cluster: of sluice.yaml')")
        stand_in.cluster_shown = cluster(fleet=None, store=None, has_store=False)
        self.browser.wait_for("neither", "const t = document.querySelector('main').innerText; return t.includes('has no etcd') && t.includes('has no store')")
        stand_in.cluster_shown = cluster(fleet=fleet([], head=None, age_s=None))
        self.browser.wait_for("no box", "return document.querySelector('main').innerText.includes('etcd has not answered yet')")
        self.nothing_amiss()

    def test_texts_of_other_boxes_are_text(self):
        nodes = [node(at, **{name: text for name in ("node", "host", "version", "runs", "problem", "set")}, verdict={"good": False, "why": text},
                      store={"state": text, "rtt_us": text}) for at, (text, _) in enumerate(HOSTILE)]
        texts = [text for text, _ in HOSTILE]
        for text, _ in HOSTILE[:1]:
            self.show_cluster(cluster(store={**LINK, "state": text, "why": text},
                                      fleet=fleet(nodes, rollout={**ROLLOUT, "by": text}, head={**HEAD, "by": text, "set": text}, drained=texts)), f"{ROWS} === {len(nodes)}")
        for _, shown in HOSTILE:
            with self.subTest(shown[:40]):
                self.judge("nodes", shown, 5)
        self.nothing_amiss()


if __name__ == "__main__":
    main(SHORT)
