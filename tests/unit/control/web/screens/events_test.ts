import assert from "node:assert/strict";
import test from "node:test";

import { added, MOST_KEPT, NO_EVENTS, PAGE, pageOf, turned, type EventList } from "../../../../../control/web/src/screens/events/event_list";
import { EVENTS_HEAD, eventLine } from "../../../../../control/web/src/screens/events/events_csv";
import { eventsPath, eventsQueryOf } from "../../../../../control/web/src/screens/events/events_query";
import { routeOf } from "../../../../../control/web/src/frame/route";
import { csvCell } from "../../../../../control/web/src/text/csv";
import type { BoxEvent } from "../../../../../control/web/src/transport/answers";

function events(count: number, from = 1): BoxEvent[] {
  return Array.from({ length: count }, (_, at) => ({ seq: from + at, time: "2026-11-30T12:00:00Z", event: "refill" }));
}

function listOf(count: number): EventList {
  return added(NO_EVENTS, { next: "1-1", missed: 0, events: events(count) });
}

test("a list is bounded, and says what had to go and what was missed", () => {
  const list = added(added(NO_EVENTS, { next: "1-9", missed: 3, events: events(MOST_KEPT) }), { next: "1-20", missed: 4, events: events(11) });
  assert.deepEqual([list.rows.length, list.gone, list.missed, list.next, list.last], [MOST_KEPT, 11, 7, "1-20", MOST_KEPT + 11]);
  assert.equal(list.rows[0]?.number, 12);
});

test("pages stay where they are while newer events come", () => {
  let list = listOf(120);
  const first = pageOf(list, null);
  assert.deepEqual([first.rows.length, first.rows[0]?.number, first.newer, first.older], [PAGE, 120, 0, 70]);
  const older = turned(list, first, "older");
  assert.equal(pageOf(list, older).rows[0]?.number, 70);
  list = added(list, { next: "1-2", missed: 0, events: events(500) });
  const held = pageOf(list, older);
  assert.deepEqual([held.rows[0]?.number, held.newer, held.older], [70, 550, 20]);
  const last = pageOf(list, turned(list, held, "older"));
  assert.deepEqual([last.rows.length, last.older], [PAGE, 0]);
  assert.equal(turned(list, pageOf(list, 600), "newer"), null);
});

test("a page that was let go becomes the oldest there is", () => {
  const list = added(listOf(MOST_KEPT), { next: "1-2", missed: 0, events: events(1000) });
  const page = pageOf(list, 40);
  assert.deepEqual([page.older, page.rows[PAGE - 1]?.number], [0, 1001]);
});

test("no event, no page", () => {
  assert.deepEqual(pageOf(NO_EVENTS, null), { rows: [], newer: 0, older: 0 });
});

test("what is asked for", () => {
  assert.equal(eventsPath({ rule: "a b&c", kind: "ban" }, "7-9", 20, 0), "/v1/events?rule=a+b%26c&kind=ban&from=7-9&wait=20");
  assert.equal(eventsPath({ rule: "", kind: "" }, null, 0, 500), "/v1/events?newest=500");
  assert.deepEqual(eventsQueryOf(routeOf("#/events?kind=constructor&rule=r")), { rule: "r", kind: "" });
});

test("cells that a spreadsheet would run are texts, and no cell ends early", () => {
  const rows: [unknown, string][] = [
    ["=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""], ["+1", "\"'+1\""], ["-1", "\"'-1\""], ["@SUM(1)", "\"'@SUM(1)\""], [" =1", "\"' =1\""], ["＝1", "\"'＝1\""],
    ['a"b,c', '"a""b,c"'], ["\t=1\r\n", '"\\t=1\\r\\n"'], ["a\u202eb", '"a\\u202eb"'], [-1.5, "-1.5"], [null, ""], [undefined, ""], [{ a: 1 }, '"{""a"":1}"'],
  ];
  for (const [value, cell] of rows) {
    assert.equal(csvCell(value), cell);
  }
  const line = eventLine({ seq: 1, time: "t", event: "ban", rule: "=r", key: "k" });
  assert.equal(line, "1,\"t\",\"ban\",,\"'=r\",,\"k\",,,,,,,,,,,,,,\r\n");
  assert.equal(line.split(",").length, EVENTS_HEAD.split(",").length);
});
