import { useEffect, useState } from "preact/hooks";

import { fragmentOf } from "../../frame/route";
import { poll, zone } from "../../page";
import { download, fileName } from "../../parts/download";
import { Fresh } from "../../parts/fresh";
import { Num } from "../../parts/num";
import { Pager } from "../../parts/pager";
import { Empty, Panel, Scroll } from "../../parts/panel";
import { RuleLink } from "../../parts/rule_link";
import { Text } from "../../parts/text";
import { whole } from "../../text/number";
import { preciseText } from "../../text/time";
import { commentOf, flowText, waitText } from "./packet_words";
import { pcapngOf } from "./pcapng";
import type { Packet } from "./trace_answers";
import { TraceForm } from "./trace_form";
import { MOST_KEPT, PAGE, type Seen, type TraceList } from "./trace_list";
import { arrived, asked, begun, endTrace, packets, state, why } from "./tracing";

const EVERY_MS = 3000;
const LONGEST_LINK = 128; // letters of a key
const NEVER_CUT = 2000; // even where each letter is an escape: a link has no button in it

/** Everything that was not seen, whatever has come. */
function Unseen({ list }: { list: TraceList }) {
  const fields = begun.value?.unread_fields ?? [];
  const rule = asked.value?.rule ?? "";
  return (
    <ul class="unseen-packets">
      <li class={list.leftOut > 0 ? "grave" : ""}>
        Left out for want of room: <strong><Num text={whole(list.leftOut)} /></strong>; at most <Num text={whole(begun.value?.most_per_second)} /> packets a second are shown.
      </li>
      {list.shown > list.rows.length && <li>The page keeps the newest {whole(MOST_KEPT)}: <Num text={whole(list.shown - list.rows.length)} /> older ones are gone.</li>}
      {fields.map((field) => (
        <li class="grave">No rule in force reads <Text of={field} />: it is not looked for in packets, and the condition finds none by it.</li>
      ))}
      {!list.judges && <li class="grave">No packet is judged: there are no rules, or panic is on.</li>}
      {!list.hasRule && <li class="grave">The rule <Text of={rule} /> is not in force any more.</li>}
      <li>Packets that the kernel drops early, and those lost before a worker saw them, are in no trace.</li>
    </ul>
  );
}

function verdictClass(packet: Packet): string {
  return packet.would_refuse !== null && packet.would_refuse !== undefined ? "would-refuse" : packet.wait_s !== 0 || packet.verdict === "drop" ? "refused" : "";
}

/** The key of a packet, and the way to what is held of it. */
function KeyLink({ packet: { rule, key, limit } }: { packet: Packet }) {
  return typeof rule !== "string" || typeof key !== "string" || key === "" || key.length > LONGEST_LINK ? (
    <Text of={key} />
  ) : (
    <a href={fragmentOf({ screen: "key", subject: rule, words: { key, limit } })}><Text of={key} most={NEVER_CUT} /></a>
  );
}

function Row({ packet }: { packet: Packet }) {
  return (
    <tr>
      <td>{preciseText(packet.time, zone.value, Date.now())}</td>
      <td><Text of={packet.dir} /> <Text of={packet.port} most={20} /></td>
      <td><Text of={flowText(packet)} /></td>
      <td class="number">{whole(packet.bytes)}</td>
      <td class={verdictClass(packet)}>
        <Text of={packet.verdict} />, <Text of={packet.reason} />
        {typeof packet.would_refuse === "string" && <small> would refuse: <Text of={packet.would_refuse} /></small>}
      </td>
      <td>{packet.rule === null ? <Text of={packet.service} /> : <RuleLink id={packet.rule} />}{packet.limit !== null && <small> <Text of={packet.limit} /></small>}</td>
      <td><KeyLink packet={packet} /></td>
      <td class="number">{waitText(packet.wait_s)}</td>
      <td><Text of={(packet.matched ?? []).join(", ")} most={60} />{packet.matched_count > (packet.matched ?? []).length && <small> and {whole(packet.matched_count - packet.matched.length)} more</small>}</td>
    </tr>
  );
}

function PacketTable({ rows }: { rows: readonly Seen[] }) {
  return (
    <Scroll label="Packets">
      <table class="packets">
        <thead>
          <tr>
            {["When", "Way", "From and to"].map((title) => <th scope="col">{title}</th>)}
            <th scope="col" class="number">Bytes</th>
            {["Verdict and reason", "Rule", "Key"].map((title) => <th scope="col">{title}</th>)}
            <th scope="col" class="number">Wait</th>
            <th scope="col">Matched</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ number, packet }) => <Row key={number} packet={packet} />)}
        </tbody>
      </table>
    </Scroll>
  );
}

function Download({ list }: { list: TraceList }) {
  const snap = asked.value?.snap ?? 0;
  const save = (): void => {
    if (list.rows.length === 0) {
      return;
    }
    const box = poll.shown.peek()?.answer.box.name ?? "";
    const captured = list.rows.map(({ packet }) => ({ time: packet.time, frame: packet.frame ?? "", size: packet.bytes, comment: commentOf(packet) }));
    download(fileName("trace", box, new Date(), "pcapng"), "application/x-pcapng", pcapngOf(captured, box) as BlobPart[]);
  };
  return (
    <p class="download">
      <button type="button" aria-disabled={list.rows.length === 0} onClick={save}>Download as pcapng</button>{" "}
      <small>{whole(list.rows.length)} packets, {snap === 0 ? "without their bytes" : `the first ${snap} bytes of each`}</small>
    </p>
  );
}

function NoPackets() {
  if (state.value === "none") {
    return <Empty>No trace runs. One shows packets as they pass, with what became of each and why; it ends with this screen.</Empty>;
  }
  if (state.value === "beginning") {
    return <Empty>The condition is compiled…</Empty>;
  }
  const { judges, hasRule } = packets.value;
  if (!judges) {
    return <Empty>Nothing is judged: there are no rules, or panic is on.</Empty>;
  }
  if (!hasRule) {
    return <Empty>The rule is not in force.</Empty>;
  }
  return <Empty>{asked.value?.which === "all" ? "No packet that meets the condition has passed." : `No packet that meets the condition was ${asked.value?.which === "dropped" ? "refused" : "one that a rule in monitor would refuse"}.`}</Empty>;
}

export function Trace() {
  useEffect(() => () => void endTrace(), []);
  const [held, setHeld] = useState<number | null>(null);
  const list = packets.value;
  const end = held === null ? list.rows.length : Math.max(Math.min(PAGE, list.rows.length), list.rows.filter(({ number }) => number <= held).length);
  const rows = list.rows.slice(Math.max(0, end - PAGE), end).reverse();
  const top = rows[0]?.number ?? 0;
  const newer = list.rows.length - end;
  return (
    <>
      <Panel title="Trace">
        <TraceForm />
      </Panel>
      <Panel title="Packets" note={state.value === "runs" ? " as they pass" : state.value === "ended" ? " of a trace that has ended" : ""}>
        {state.value === "ended" && why.value !== null && <p class="losses" role="alert">Ended: <Text of={why.value} most={300} /></p>}
        <Fresh arrived={state.value === "runs" ? arrived.value : null} trouble={state.value === "runs" ? why.value : null} every={EVERY_MS}>
          {state.value !== "none" && state.value !== "beginning" && <Unseen list={list} />}
          <div class="tools">
            <Pager back="Newer" next="Older" onBack={newer > 0 ? () => setHeld(newer <= PAGE ? null : top + PAGE) : null} onNext={end > PAGE ? () => setHeld(top - PAGE) : null}>
              <Num text={whole(rows.length)} /> of <Num text={whole(list.shown)} />, the newest first{newer > 0 && <>; <Num text={whole(newer)} /> newer</>}
            </Pager>
            <button type="button" aria-pressed={held !== null} onClick={() => setHeld(held === null ? (list.rows[list.rows.length - 1]?.number ?? 0) : null)}>{held === null ? "Hold" : "Follow"}</button>
            <Download list={list} />
          </div>
          {rows.length === 0 ? <NoPackets /> : <PacketTable rows={rows} />}
        </Fresh>
      </Panel>
    </>
  );
}
