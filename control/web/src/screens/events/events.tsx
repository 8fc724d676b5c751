import { useEffect, useRef, useState } from "preact/hooks";
import { useSignal } from "@preact/signals";

import { useFollow } from "../../frame/polled";
import { shownId, tenant } from "../../frame/tenant";
import { jointIdOf } from "../../frame/tenant_words";
import { ask } from "../../parts/ask";
import { go, poll, route, ticks, zone } from "../../page";
import { download, fileName } from "../../parts/download";
import { Fresh } from "../../parts/fresh";
import { Num } from "../../parts/num";
import { Pager } from "../../parts/pager";
import { Empty, Panel, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { whole } from "../../text/number";
import { instantText } from "../../text/time";
import { UNKNOWN_ANSWER } from "../../transport/known_answer";
import { reasonOf } from "../../transport/send";
import { eventWords } from "../overview/event_words";
import { added, isEventsAnswer, MOST_KEPT, NO_EVENTS, pageOf, turned, type Arrived, type EventList, type EventPage } from "./event_list";
import { EVENTS_HEAD, eventLine } from "./events_csv";
import { eventsPath, eventsQueryOf, KINDS, type EventsQuery } from "./events_query";

const WAIT_S = 20;
const FIRST = 500; // of those that are kept already
const FULL = 1000; // of one answer: there may be more at once
const REST_MS = 1000;
const MOST_READS = 64; // of one download
const PACE = { longest: (WAIT_S + 5) * 1000, hidden: 15_000 };

interface Followed {
  about: string;
  list: EventList;
  arrived: number | null;
  trouble: string | null;
}

/** The newest events, and those that come while the screen is open. */
function useEvents(query: EventsQuery) {
  const about = JSON.stringify(query);
  const followed = useSignal<Followed>({ about, list: NO_EVENTS, arrived: null, trouble: null });
  useFollow(async (signal) => {
    const last = followed.peek().about === about ? followed.peek() : { about, list: NO_EVENTS, arrived: null, trouble: null };
    const { next } = last.list;
    const reply = await ask(eventsPath(query, next, next === null ? 0 : WAIT_S, next === null ? FIRST : 0), { signal });
    if (signal.aborted && reply.status === 0) {
      return REST_MS;
    }
    if (reply.status !== 200 || !isEventsAnswer(reply.body)) {
      followed.value = { ...last, trouble: reply.status === 200 ? UNKNOWN_ANSWER : reasonOf(reply) };
      return Math.max(2 * REST_MS, (reply.againIn ?? 0) * 1000);
    }
    const arrived = performance.now();
    ticks.value = Math.max(ticks.peek(), arrived);
    followed.value = { about, list: added(last.list, reply.body), arrived, trouble: null };
    return reply.body.events.length >= FULL ? 0 : REST_MS;
  }, about, PACE);
  return followed.value.about === about ? followed.value : { about, list: NO_EVENTS, arrived: null, trouble: null };
}

function Filters({ query }: { query: EventsQuery }) {
  const [rule, setRule] = useState(shownId(query.rule));
  useEffect(() => setRule(shownId(query.rule)), [query.rule]);
  const turn = (change: Partial<EventsQuery>): void => go({ screen: "events", words: { ...query, ...change } }, true);
  const joint = (): string => jointIdOf(tenant.peek(), rule.trim());
  return (
    <form class="tools" onSubmit={(event) => { event.preventDefault(); turn({ rule: joint() }); }}>
      <label>
        Rule <input type="search" name="rule" maxLength={256} placeholder="all" value={rule} onInput={(event) => setRule(event.currentTarget.value)}
          onChange={() => turn({ rule: joint() })} />
      </label>
      <label>
        Kind{" "}
        <select name="kind" value={query.kind} onChange={(event) => turn({ kind: event.currentTarget.value })}>
          <option value="">all</option>
          {Object.entries(KINDS).map(([value, text]) => (
            <option value={value}>{text}</option>
          ))}
        </select>
      </label>
    </form>
  );
}

/** All that sluiced keeps of these events, not what this page has. */
function Download({ query }: { query: EventsQuery }) {
  const [state, setState] = useState<string | null>(null);
  const run = useRef(false);
  const fetchAll = async (): Promise<void> => {
    const lines = ["\ufeff", EVENTS_HEAD];
    let [next, missed, count]: [string | null, number, number] = [null, 0, 0];
    for (let reads = 0; reads < MOST_READS; reads += 1) {
      const reply = await ask(eventsPath(query, next, 0, 0));
      if (reply.status !== 200 || !isEventsAnswer(reply.body)) {
        setState(`No file: ${reasonOf(reply)}`);
        return;
      }
      const { events } = reply.body;
      lines.push(...events.map(eventLine));
      [next, missed, count] = [reply.body.next, missed + (reply.body.missed ?? 0), count + events.length];
      setState(`${whole(count)} so far…`);
      if (events.length === 0) {
        break;
      }
    }
    download(fileName("events", poll.shown.peek()?.answer.box.name ?? "", new Date(), "csv"), "text/csv;charset=utf-8", lines);
    setState(`${whole(count)} events${missed > 0 ? `, ${whole(missed)} were lost meanwhile` : ""}.`);
  };
  const begin = (): void => {
    if (!run.current) {
      run.current = true;
      void fetchAll().finally(() => (run.current = false));
    }
  };
  return (
    <p class="download">
      <button type="button" onClick={begin}>
        Download as CSV
      </button>{" "}
      <small role="status">{state === null ? "all that sluiced keeps of these" : <Text of={state} most={300} />}</small>
    </p>
  );
}

function NoEvents({ query, followed }: { query: EventsQuery; followed: Followed }) {
  if (followed.arrived === null) {
    return <Empty>{followed.trouble === null ? "Events are asked for…" : <>No events could be read: <Text of={followed.trouble} most={300} />.</>}</Empty>;
  }
  const box = poll.shown.value?.answer;
  if (query.rule !== "" || query.kind !== "") {
    return (
      <Empty>
        None of these since the dataplane began, as far back as it keeps them{query.rule === "" ? "" : <>; a rule <Text of={query.rule} /> may have no `events`, or nobody knows it</>}.{" "}
        <button type="button" onClick={() => go({ screen: "events" }, true)}>
          Show all
        </button>
      </Empty>
    );
  }
  if (box !== undefined && box.rules.total === 0) {
    return <Empty>None: no rules are in force, so that no key is refused or banned.</Empty>;
  }
  return <Empty>None since the dataplane began: of rules that have `events`, no key was refused or banned.</Empty>;
}

function Row({ arrived: { event } }: { arrived: Arrived }) {
  const { rule } = event;
  const isRule = typeof rule === "string";
  return (
    <tr>
      <td>{instantText(event.time, zone.value, Date.now())}</td>
      <td>
        <Text of={isRule ? shownId(rule) : rule} />
        {isRule && (
          <button type="button" class="jump" aria-label="Events of this rule alone" onClick={() => go({ screen: "events", words: { ...eventsQueryOf(route.value), rule } })}>
            →
          </button>
        )}
      </td>
      <td><Text of={event["limit"]} /></td>
      <td><Text of={event["key"] ?? event["pair"] ?? event["service"]} /></td>
      <td><Text of={eventWords(event)} /></td>
    </tr>
  );
}

function Losses({ list }: { list: EventList }) {
  if (list.missed === 0 && list.gone === 0) {
    return null;
  }
  return (
    <p class="losses" role="note">
      {list.missed > 0 && <>Lost before they were read: <Num text={whole(list.missed)} />. </>}
      {list.gone > 0 && <>The page has the newest {whole(MOST_KEPT)}: <Num text={whole(list.gone)} /> older ones had to go, and are in the file while sluiced keeps them.</>}
    </p>
  );
}

function EventTable({ page }: { page: EventPage }) {
  return (
    <Scroll label="Events">
      <table class="events">
        <thead>
          <tr>
            {["When", "Rule", "Limit", "Key", "What"].map((title) => (
              <th scope="col">{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {page.rows.map((row) => (
            <Row key={row.number} arrived={row} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

export function Events() {
  const query = eventsQueryOf(route.value);
  const followed = useEvents(query);
  const [from, setFrom] = useState<number | null>(null);
  useEffect(() => setFrom(null), [followed.about]);
  const { list } = followed;
  const page = pageOf(list, from);
  return (
    <Panel title="Events">
      <div class="tools">
        <Filters query={query} />
        <Pager back="Newer" next="Older" onBack={page.newer > 0 ? () => setFrom(turned(list, page, "newer")) : null}
          onNext={page.older > 0 ? () => setFrom(turned(list, page, "older")) : null}>
          <Num text={whole(page.rows.length)} /> of <Num text={whole(list.rows.length)} />, the newest first
          {page.newer > 0 && <>; <Num text={whole(page.newer)} /> newer</>}
        </Pager>
        <button type="button" aria-pressed={from !== null} onClick={() => setFrom(from === null ? list.last : null)}>
          {from === null ? "Hold" : "Follow"}
        </button>
      </div>
      <Fresh arrived={followed.arrived} trouble={followed.trouble} every={PACE.longest}>
        <Losses list={list} />
        {list.rows.length === 0 ? <NoEvents query={query} followed={followed} /> : <EventTable page={page} />}
      </Fresh>
      <Download query={query} />
    </Panel>
  );
}
