import { useState } from "preact/hooks";

import { route, zone } from "../../page";
import { Num } from "../../parts/num";
import { Empty, Panel, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { whole, withUnit } from "../../text/number";
import { instantText, spanText } from "../../text/time";
import { eventWords } from "../overview/event_words";
import { BanButton } from "./ban_form";
import { KeyLinks } from "./key_links";
import type { FullRule, LiveKey, TopKey } from "./rule_answers";
import { events, liveKeys, top, topBy } from "./rule_polls";
import { rulePlaceOf } from "./rule_place";

const ORDERS = { hits: "packets", denied: "refused packets", bits: "bits" } as const;

function TopRow({ row }: { row: TopKey }) {
  return (
    <tr>
      <th scope="row"><Text of={row.key} /></th>
      <td class="number"><Num text={withUnit(row.hits, "pps")} /></td>
      <td class="number"><Num text={withUnit(row.bits, "bit/s")} /></td>
      <td class="number refused"><Num text={withUnit(row.denied, "pps")} /></td>
      <td class="number">{row.isExempt ? "exempt" : row.isBanned ? "banned" : <Num text={whole(row.remaining)} />}</td>
      <td><KeyLinks name={row.key} limit={null} /> <BanButton name={row.key} /></td>
    </tr>
  );
}

export function TopKeys() {
  const shown = top.shown.value;
  return (
    <Panel title="Busiest keys" note=" of the last 10 s">
      <label>
        By{" "}
        <select value={topBy.value} onChange={(event) => (topBy.value = event.currentTarget.value as keyof typeof ORDERS)}>
          {Object.entries(ORDERS).map(([value, words]) => <option value={value}>{words}</option>)}
        </select>
      </label>
      {top.trouble.value !== null && <Empty>They are not read: <Text of={top.trouble.value} most={300} />.</Empty>}
      {shown === null ? (
        top.trouble.value === null && <Empty>The busiest keys are asked for…</Empty>
      ) : shown.answer.length === 0 ? (
        <Empty>No packet that the rule matches was sampled in the last 10 s.</Empty>
      ) : (
        <Scroll label="Busiest keys">
          <table>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col" class="number">Packets</th>
                <th scope="col" class="number">Bits</th>
                <th scope="col" class="number refused">Refused</th>
                <th scope="col" class="number">Left</th>
                <th scope="col">What to do</th>
              </tr>
            </thead>
            <tbody>{shown.answer.map((row) => <TopRow key={row.key} row={row} />)}</tbody>
          </table>
        </Scroll>
      )}
      <LiveKeys />
    </Panel>
  );
}

function LiveRow({ row }: { row: LiveKey }) {
  return (
    <tr>
      <th scope="row">{row.key === null ? <small>not known: {row.digest}</small> : <Text of={row.key} />}</th>
      <td><Text of={row.limit} /></td>
      <td class="number"><Num text={whole(row.remaining)} /> of <Num text={whole(row.most)} /></td>
      <td class="number"><Num text={row.leftS === null ? "–" : spanText(row.leftS)} /></td>
      <td>{row.banned === null ? "" : <>banned: <Text of={row.banned} /></>}</td>
      <td>{row.key !== null && <KeyLinks name={row.key} limit={null} />}</td>
    </tr>
  );
}

/** What lies in the tables, a page at a time, when somebody wants it. */
function LiveKeys() {
  const { rule } = rulePlaceOf(route.value);
  const [asked, setAsked] = useState(false);
  const ask = (after: string | null): void => {
    setAsked(true);
    const words = new URLSearchParams({ rule, most: "50", ...(after === null ? {} : { after }) });
    liveKeys.ask(`/v1/keys?${words.toString()}`);
  };
  const shown = liveKeys.shown.value;
  return (
    <details onToggle={(event) => event.currentTarget.open && !asked && ask(null)}>
      <summary>Live keys, out of the tables</summary>
      {liveKeys.trouble.value !== null && <Empty>They are not read: <Text of={liveKeys.trouble.value} most={300} />.</Empty>}
      {shown !== null && shown.answer.keys.length === 0 && (
        <Empty>{shown.answer.next === null ? "No key of this rule is in the tables." : "None on this page of the tables."}</Empty>
      )}
      {shown !== null && shown.answer.keys.length > 0 && (
        <Scroll label="Live keys">
          <table>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Limit</th>
                <th scope="col" class="number">Left</th>
                <th scope="col" class="number">As new in</th>
                <th scope="col">Ban</th>
                <th scope="col">What to do</th>
              </tr>
            </thead>
            <tbody>{shown.answer.keys.map((row) => <LiveRow row={row} />)}</tbody>
          </table>
        </Scroll>
      )}
      <p class="pager">
        <button type="button" onClick={() => { liveKeys.ask(null); ask(null); }}>From the first</button>
        <button type="button" disabled={shown === null || shown.answer.next === null} onClick={() => ask(shown?.answer.next ?? null)}>Next</button>
      </p>
    </details>
  );
}

export function RuleEventList() {
  const shown = events.shown.value;
  return (
    <Panel title="Events of this rule">
      {events.trouble.value !== null && <Empty>They are not read: <Text of={events.trouble.value} most={300} />.</Empty>}
      {shown !== null && shown.answer.missed > 0 && <Empty>{whole(shown.answer.missed)} older events are not kept any more.</Empty>}
      {shown !== null && shown.answer.events.length === 0 && (
        <Empty>None is kept: the rule has no `events`, or no key of it was refused or banned.</Empty>
      )}
      {shown !== null && shown.answer.events.length > 0 && (
        <Scroll label="Events of this rule">
          <table class="events">
            <thead>
              <tr><th scope="col">When</th><th scope="col">Key</th><th scope="col">What</th></tr>
            </thead>
            <tbody>
              {shown.answer.events.map((event) => (
                <tr>
                  <td>{instantText(event.time, zone.value, Date.now())}</td>
                  <td><Text of={event["key"]} /></td>
                  <td><Text of={eventWords(event)} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

export function OwnNumberList({ rule }: { rule: FullRule }) {
  return (
    <Panel title="Numbers of single keys">
      {rule.ownNumbers.length === 0 ? (
        <Empty>Nothing is set for a single key at run time. What files of overrides say stands in the text.</Empty>
      ) : (
        <Scroll label="Numbers of single keys">
          <table>
            <thead>
              <tr><th scope="col">Key</th><th scope="col">What</th><th scope="col">Until</th><th scope="col">Reason</th></tr>
            </thead>
            <tbody>
              {rule.ownNumbers.map((row) => (
                <tr>
                  <th scope="row"><Text of={row.key} /></th>
                  <td><Text of={row.says} /></td>
                  <td>{typeof row.until === "string" ? instantText(row.until, zone.value, Date.now()) : "no end"}</td>
                  <td><Text of={row.reason} most={200} /></td>
                </tr>
              ))}
            </tbody>
          </table>
          {rule.ownCount > rule.ownNumbers.length && <p class="empty">{whole(rule.ownCount - rule.ownNumbers.length)} more: sluicectl key list.</p>}
        </Scroll>
      )}
    </Panel>
  );
}
