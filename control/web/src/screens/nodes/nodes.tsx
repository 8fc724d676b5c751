import type { ComponentChildren } from "preact";

import { usePolled, type Polled } from "../../frame/polled";
import { zone } from "../../page";
import { Fresh } from "../../parts/fresh";
import { Num } from "../../parts/num";
import { Empty, Panel, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { shortTimeText, whole } from "../../text/number";
import { instantText, shortSpanText } from "../../text/time";
import { courseText, isAmiss, isNoCluster, isNodesAnswer, numberIn, runsText, slotsText, waveText, type Fleet, type NoCluster, type NodeRow, type NodesAnswer, type Rollout, type StoreLink } from "./node_list";

const EVERY_MS = 2000;
const SUM_SHOWN = 12;

function microseconds(value: unknown): string {
  const us = numberIn(value);
  return us !== null && us < 0 ? `-${shortTimeText(-us * 1000)}` : shortTimeText(us === null ? null : us * 1000);
}

function Sum({ of }: { of: unknown }) {
  return <Text of={typeof of === "string" ? of.slice(0, SUM_SHOWN) : of} />;
}

interface Column {
  title: string;
  cell(row: NodeRow): ComponentChildren;
  isNumber?: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: "Host", cell: (row) => <Text of={row.host} /> },
  { title: "Version", cell: (row) => <Text of={row.version} /> },
  { title: "Generation", isNumber: true, cell: (row) => <Num text={whole(numberIn(row.generation))} /> },
  { title: "Set", cell: (row) => <Sum of={row.set} /> },
  { title: "Rules", cell: (row) => <span class={isAmiss(row) ? "grave" : ""}><Text of={runsText(row)} /></span> },
  { title: "Store", cell: (row) => <Text of={row.store?.state} /> },
  { title: "Round trip", isNumber: true, cell: (row) => <Num text={microseconds(row.store?.rtt_us)} /> },
  { title: "Clock", isNumber: true, cell: (row) => <Num text={microseconds(row.store?.clock_offset_us)} /> },
  { title: "Unsynced", isNumber: true, cell: (row) => <Num text={whole(numberIn(row.store?.unsynced))} /> },
  { title: "Problem", cell: (row) => <Text of={row.problem} most={200} /> },
];

function NodeTable({ fleet, own }: { fleet: Fleet; own: unknown }) {
  return (
    <Scroll label="Boxes of the cluster">
      <table class="nodes">
        <thead>
          <tr>
            <th scope="col" class="number">Slot</th>
            <th scope="col">Node</th>
            {COLUMNS.map(({ title, isNumber }) => (
              <th scope="col" class={isNumber === true ? "number" : ""}>{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {fleet.nodes.map((row, at) => (
            <tr key={at}>
              <td class="number"><Num text={whole(numberIn(row.slot))} /></td>
              <th scope="row"><Text of={row.node} />{row.node === own && <small> this box</small>}</th>
              {COLUMNS.map(({ cell, isNumber }) => (
                <td class={isNumber === true ? "number" : ""}>{cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function RolloutPanel({ fleet, rollout }: { fleet: Fleet; rollout: Rollout }) {
  return (
    <Panel title="Rollout under way" note={<> generation <Num text={whole(numberIn(rollout.generation))} />, by <Text of={rollout.by} />: {courseText(rollout)}</>}>
      <Scroll label="Rollout under way">
        <table class="rollout">
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Stands at</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {fleet.nodes.map((row, at) => (
              <tr key={at}>
                <th scope="row"><Text of={row.node} /></th>
                <td><Text of={waveText(row, rollout)} /></td>
                <td><Text of={row.verdict?.why} most={200} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p><small>Ended by <code>sluicectl rollout abort</code>, kept by <code>sluicectl confirm --cluster</code> where it is on trial everywhere.</small></p>
    </Panel>
  );
}

const LINK: readonly { title: string; cell(link: StoreLink): ComponentChildren }[] = [
  { title: "Slot", cell: (link) => <Num text={whole(numberIn(link["slot"]))} /> },
  { title: "Round trip", cell: (link) => <Num text={microseconds(link["rtt_us"])} /> },
  { title: "Clock of the store, less this one", cell: (link) => <Num text={microseconds(link["clock_off_us"])} /> },
  { title: "Units unsynced", cell: (link) => <Num text={whole(numberIn(link["unsynced"]))} /> },
  { title: "Away in all", cell: (link) => <Num text={numberIn(link["down_s"]) === null ? whole(null) : shortSpanText(numberIn(link["down_s"]) ?? 0)} /> },
  { title: "Levels lost", cell: (link) => <Num text={whole(numberIn(link["lost"]))} /> },
  { title: "Batches lost", cell: (link) => <Num text={whole(numberIn(link["gaps"]))} /> },
  { title: "Windows ahead of time", cell: (link) => <Num text={whole(numberIn(link["skewed"]))} /> },
  { title: "Windows over", cell: (link) => <Num text={whole(numberIn(link["expired"]))} /> },
];

function StorePanel({ link }: { link: StoreLink }) {
  const isDown = link.down === true;
  return (
    <Panel title="This box and the store">
      <p class={link.state === "ready" && !isDown ? "" : "grave"}>
        The link is <Text of={link.state} />{isDown && ", and limits go by owner_down"}
        {typeof link.why === "string" && <>: <Text of={link.why} most={300} /></>}.
      </p>
      <Scroll label="The link to the store">
        <table class="store-link">
          <thead><tr>{LINK.map(({ title }) => <th scope="col" class="number">{title}</th>)}</tr></thead>
          <tbody><tr>{LINK.map(({ cell }) => <td class="number">{cell(link)}</td>)}</tr></tbody>
        </table>
      </Scroll>
    </Panel>
  );
}

function FleetPanel({ fleet, answer }: { fleet: Fleet; answer: NodesAnswer }) {
  const { head } = fleet;
  return (
    <Panel title="Boxes" note={<> {slotsText(fleet, answer.size)}</>}>
      {typeof fleet.problem === "string" && (
        <p class="grave">
          etcd was not read{fleet.age_s === null ? " yet" : <> since {shortSpanText(fleet.age_s)}</>}: <Text of={fleet.problem} most={300} />.
          The boxes go on with the rules that they have.
        </p>
      )}
      {head === null ? <p>No rules were ever brought to this cluster: <code>sluicectl apply --cluster</code> brings them.</p> : (
        <p>
          All are to run generation <Num text={whole(numberIn(head.generation))} />, set <Sum of={head.set} />, by <Text of={head.by} />
          {typeof head.at === "string" && <>, since {instantText(head.at, zone.value, Date.now())}</>}.
        </p>
      )}
      {fleet.nodes.length === 0 ? <Empty>{fleet.age_s === null ? "etcd has not answered yet." : "No box holds a slot in etcd."}</Empty> : <NodeTable fleet={fleet} own={answer.node} />}
      {fleet.away.map((node) => (
        <p class="grave"><Text of={node} /> is away: <code>sluicectl nodes forget</code> where it does not return.</p>
      ))}
      {fleet.drained.map((node) => (
        <p><Text of={node} /> is drained: <code>sluicectl drain --undo</code> lets it back in.</p>
      ))}
      <p><small>A box leaves by <code>sluicectl drain NODE</code>.</small></p>
    </Panel>
  );
}

function isAnswer(body: unknown): body is NodesAnswer | NoCluster {
  return isNoCluster(body) || isNodesAnswer(body);
}

function NoNodes({ polled }: { polled: Polled<NodesAnswer | NoCluster> }) {
  if (polled.trouble === null && polled.now === null) {
    return <Empty>The cluster is asked for…</Empty>;
  }
  if (polled.trouble === null) {
    return <Empty>This box is in no cluster: <code>cluster:</code> of sluice.yaml puts it into one, as sluice-cluster(7) says.</Empty>;
  }
  return <Empty>Nobody says: <Text of={polled.trouble} most={300} />.</Empty>;
}

/** The boxes of the cluster, the rollout that is under way, and this box's link to the store. */
export function Nodes() {
  const polled = usePolled("/v1/cluster/nodes", isAnswer, EVERY_MS).value;
  const answer = polled.now;
  if (answer === null || isNoCluster(answer)) {
    return <Panel title="Nodes"><NoNodes polled={polled} /></Panel>;
  }
  const { fleet, store } = answer;
  return (
    <Fresh arrived={polled.at} trouble={polled.trouble} every={EVERY_MS}>
      {fleet === null ? <Panel title="Boxes"><Empty>The cluster has no etcd: each box is asked by itself, and rules are applied box by box.</Empty></Panel> : <FleetPanel fleet={fleet} answer={answer} />}
      {fleet !== null && fleet.rollout !== null && <RolloutPanel fleet={fleet} rollout={fleet.rollout} />}
      {store !== null && <StorePanel link={store} />}
      {store === null && <Panel title="This box and the store"><Empty>{answer.has_store === true ? "No dataplane says how the link stands." : "The cluster has no store: every limit is this box's own."}</Empty></Panel>}
    </Fresh>
  );
}
