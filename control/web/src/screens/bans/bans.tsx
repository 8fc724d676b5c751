import { useEffect, useState } from "preact/hooks";
import { computed, useSignal } from "@preact/signals";

import { useFollow } from "../../frame/polled";
import { shownId, tenant } from "../../frame/tenant";
import { jointIdOf } from "../../frame/tenant_words";
import { ask } from "../../parts/ask";
import { go, poll, route, ticks, zone } from "../../page";
import { Fresh } from "../../parts/fresh";
import { Num } from "../../parts/num";
import { Pager } from "../../parts/pager";
import { Empty, Panel, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { known } from "../../text/known";
import { isNumber, whole } from "../../text/number";
import { instantText, spanText } from "../../text/time";
import { UNKNOWN_ANSWER } from "../../transport/known_answer";
import { reasonOf } from "../../transport/send";
import { BanForm, LiftForm } from "./ban_forms";
import { bansPath, bansQueryOf, isBansAnswer, PAGE, SOURCES, type Ban, type BansAnswer, type BansQuery } from "./bans_query";
import { idOf, toggled, whyNot, type Chosen } from "./chosen";

const EVERY_MS = 10_000; // tables of penalty boxes are read for it

interface Shown {
  path: string;
  answer: BansAnswer | null;
  arrived: number | null;
  trouble: string | null;
}

/** One page, read anew every ten seconds and after each change. */
function useBans(path: string, again: number): Shown {
  const shown = useSignal<Shown>({ path, answer: null, arrived: null, trouble: null });
  useFollow(async (signal) => {
    const reply = await ask(path, { signal });
    if (signal.aborted && reply.status === 0) {
      return 1000;
    }
    if (reply.status !== 200 || !isBansAnswer(reply.body)) {
      const last = shown.peek().path === path ? shown.peek() : { path, answer: null, arrived: null };
      shown.value = { ...last, trouble: reply.status === 200 ? UNKNOWN_ANSWER : reasonOf(reply) };
      return Math.max(3000, (reply.againIn ?? 0) * 1000);
    }
    const arrived = performance.now();
    ticks.value = Math.max(ticks.peek(), arrived);
    shown.value = { path, answer: reply.body, arrived, trouble: null };
    return EVERY_MS;
  }, `${path} ${again}`);
  return shown.value;
}

function turn(change: Partial<BansQuery>): void {
  go({ screen: "bans", words: { ...bansQueryOf(route.value), ...change } }, true);
}

function Filters({ query }: { query: BansQuery }) {
  const shown = { rule: shownId(query.rule), filter: query.filter };
  const [given, setGiven] = useState(shown);
  useEffect(() => setGiven(shown), [query.rule, query.filter]);
  const enter = (): void => turn({ rule: jointIdOf(tenant.value, given.rule.trim()), filter: given.filter.trim() });
  return (
    <form class="tools" onSubmit={(event) => { event.preventDefault(); enter(); }}>
      <label>
        Rule <input type="search" name="rule" maxLength={256} placeholder="all" value={given.rule} onChange={enter}
          onInput={(event) => setGiven({ ...given, rule: event.currentTarget.value })} />
      </label>
      <label>
        Source{" "}
        <select name="source" value={query.source} onChange={(event) => turn({ source: event.currentTarget.value })}>
          <option value="">all</option>
          {Object.entries(SOURCES).map(([value, text]) => (
            <option value={value}>{text}</option>
          ))}
        </select>
      </label>
      <label>
        Key or reason has <input type="search" name="filter" maxLength={128} value={given.filter} onChange={enter}
          onInput={(event) => setGiven({ ...given, filter: event.currentTarget.value })} />
      </label>
      <label>
        Order{" "}
        <select name="sort" value={query.sort} onChange={(event) => turn({ sort: event.currentTarget.value === "end" ? "end" : "place" })}>
          <option value="place">by source and rule</option>
          <option value="end">soonest to end first</option>
        </select>
      </label>
      <button type="submit" class="unseen">Filter</button>
    </form>
  );
}

function NoBans({ shown, query }: { shown: Shown; query: BansQuery }) {
  const { answer, trouble } = shown;
  if (answer === null) {
    return <Empty>{trouble === null ? "Bans are asked for…" : <>No bans could be read: <Text of={trouble} most={300} />.</>}</Empty>;
  }
  if (answer.next !== null) {
    return <Empty>None in this part of the tables; there is more behind it.</Empty>;
  }
  if (query.rule !== "" || query.source !== "" || query.filter !== "") {
    return (
      <Empty>
        No ban that holds now is such a one.{" "}
        <button type="button" onClick={() => turn({ rule: "", source: "", filter: "" })}>
          Show all
        </button>
      </Empty>
    );
  }
  if (poll.shown.value?.answer.rules.total === 0) {
    return <Empty>None: no rules are in force, and bans are of rules.</Empty>;
  }
  return <Empty>{answer.boxes_read ? "None holds now: neither operators, files nor penalty boxes ban anybody." : "Neither operators nor files ban anybody."}</Empty>;
}

const seconds = computed(() => Math.floor(ticks.value / 1000)); // rows are drawn once in each

function endOf(ban: Ban, arrived: number | null): string {
  if (!isNumber(ban.left_s)) {
    return "for good";
  }
  const left = ban.left_s - (arrived === null ? 0 : seconds.value - arrived / 1000);
  return `in ${spanText(left)}`;
}

interface RowProps {
  ban: Ban;
  arrived: number | null;
  isChosen: boolean;
  onChoose: (on: boolean) => void;
}

function Row({ ban, arrived, isChosen, onChoose }: RowProps) {
  const reason = whyNot(ban);
  return (
    <tr class={ban.mode === "enforce" && ban.inactive === null ? "" : "resting"}>
      <td>
        <input type="checkbox" checked={isChosen} disabled={reason !== null} title={reason ?? undefined}
          aria-label={reason === null ? "Choose" : `Cannot be chosen: ${reason}`} onChange={(event) => onChoose(event.currentTarget.checked)} />
      </td>
      <th scope="row">
        {ban.key === null ? (
          <small>not named, <Text of={ban.digest} /></small>
        ) : (
          <>
            <Text of={ban.key} />
            {tenant.value === null && (
              <button type="button" class="jump" aria-label="Why this key is refused" onClick={() => go({ screen: "key", subject: ban.rule, words: { key: ban.key } })}>
                →
              </button>
            )}
          </>
        )}
        {ban.applies_to === "source" && <small> all that it sends</small>}
      </th>
      <td>
        <Text of={shownId(ban.rule)} />
        {ban.mode !== "enforce" && <small> <Text of={ban.mode} />: nothing is dropped for it</small>}
        {ban.inactive !== null && <small> not at this time</small>}
      </td>
      <td><Text of={known(SOURCES, ban.source) ?? ban.source} />{ban.by !== undefined && ban.by !== "" && <small> <Text of={ban.by} /></small>}</td>
      <td><Num text={endOf(ban, arrived)} />{ban.until !== null && <small> {instantText(ban.until, zone.value, Date.now())}</small>}</td>
      <td><Text of={ban.reason} /></td>
    </tr>
  );
}

interface TableProps {
  shown: Shown;
  chosen: Chosen;
  choose: (bans: readonly Ban[], on: boolean) => void;
}

function BanTable({ shown, chosen, choose }: TableProps) {
  const bans = shown.answer?.bans ?? [];
  const able = bans.filter((ban) => whyNot(ban) === null);
  const all = able.length > 0 && able.every((ban) => chosen.has(idOf(ban)));
  return (
    <Scroll label="Bans">
      <table class="bans">
        <thead>
          <tr>
            <th scope="col">
              <input type="checkbox" aria-label="Choose all of this page" checked={all} disabled={able.length === 0} onChange={(event) => choose(able, event.currentTarget.checked)} />
            </th>
            {["Key", "Rule", "By", "Ends", "Reason"].map((title) => (
              <th scope="col">{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bans.map((ban, at) => (
            <Row key={`${idOf(ban)}${ban.digest ?? at}`} ban={ban} arrived={shown.arrived} isChosen={chosen.has(idOf(ban))} onChoose={(on) => choose([ban], on)} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Where each page began that lies before the one shown. */
function usePages(about: string) {
  const [pages, setPages] = useState<{ about: string; starts: string[] }>({ about, starts: [""] });
  const starts = pages.about === about ? pages.starts : [""];
  return { starts, turnTo: (next: string[]): void => setPages({ about, starts: next }) };
}

export function Bans() {
  const query = bansQueryOf(route.value);
  const { starts, turnTo } = usePages(JSON.stringify(query));
  const [again, setAgain] = useState(0);
  const [chosen, setChosen] = useState<Chosen>(new Map());
  const path = bansPath(query, starts[starts.length - 1] ?? "");
  const last = useBans(path, again);
  const isPending = last.path !== path;
  const shown = isPending ? { ...last, trouble: null } : last;
  const { answer } = shown;
  const next = answer?.next ?? null;
  const first = (starts.length - 1) * PAGE;
  const changed = (): void => {
    setChosen(new Map());
    setAgain(again + 1);
  };
  return (
    <>
      <Panel title="Bans">
        <div class="tools">
          <Filters query={query} />
          <Pager onBack={isPending || starts.length === 1 ? null : () => turnTo(starts.slice(0, -1))}
            onNext={isPending || next === null ? null : () => turnTo([...starts, next])}>
            {isPending || answer === null ? "Asked for…" : <>Page <Num text={whole(starts.length)} />, <Num text={whole(answer.bans.length)} /> bans{next === null && first === 0 ? " in all" : ""}</>}
          </Pager>
        </div>
        {answer !== null && !answer.boxes_read && <p class="losses" role="note">{query.sort === "end" ? "Those of penalty boxes are in no order, and not here." : "Those of penalty boxes are not known: no dataplane is connected."}</p>}
        <Fresh arrived={shown.arrived} trouble={shown.trouble} every={EVERY_MS}>
          <div class={isPending ? "pending" : ""}>
            {(answer?.bans.length ?? 0) === 0 ? <NoBans shown={shown} query={query} /> : <BanTable shown={shown} chosen={chosen} choose={(bans, on) => setChosen(toggled(chosen, bans, on))} />}
          </div>
        </Fresh>
        <LiftForm chosen={chosen} onDone={changed} />
      </Panel>
      <BanForm onDone={changed} />
    </>
  );
}
