import type { ComponentChildren } from "preact";

import { usePolled, type Polled } from "../../frame/polled";
import { poll } from "../../page";
import { Fresh } from "../../parts/fresh";
import { Num } from "../../parts/num";
import { Empty, Panel, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { isNumber, NO_NUMBER, scaled, share, shortTimeText, whole, withUnit } from "../../text/number";
import { spanText } from "../../text/time";
import { cyclesOf, isWorkersAnswer, rateOf, spreadOf, STAGES, workerLike, type Worker, type WorkersAnswer } from "./worker_numbers";

const EVERY_MS = 1000;

interface Row {
  worker: Worker;
  before: Worker | null;
  spread: number | null;
  seconds: number; // since `before`
}

function rowsOf(polled: Polled<WorkersAnswer>): Row[] {
  const workers = polled.now?.workers ?? [];
  const before = polled.before?.workers ?? null;
  const spread = spreadOf(workers, before);
  return workers.map((worker, at) => ({ worker, before: workerLike(worker, before), spread: spread[at] ?? null, seconds: polled.seconds }));
}

interface Column {
  title: string;
  cell(row: Row): ComponentChildren;
  className?: string;
}

function WorkerTable({ label, columns, rows }: { label: string; columns: readonly Column[]; rows: readonly Row[] }) {
  return (
    <Scroll label={label}>
      <table class="workers">
        <thead>
          <tr>
            <th scope="col">Core</th>
            {columns.map(({ title, className }) => (
              <th scope="col" class={className ?? "number"}>{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.worker.lcore}>
              <th scope="row"><Num text={whole(row.worker.lcore)} /></th>
              {columns.map(({ cell, className }) => (
                <td class={className ?? "number"}>{cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function cyclesText(cycles: number | null): string {
  return isNumber(cycles) && cycles < 1e4 ? cycles.toFixed(cycles < 100 ? 1 : 0) : scaled(cycles);
}

const CYCLE_COLUMNS: Column[] = [
  ...STAGES.map((stage) => ({
    title: stage.charAt(0).toUpperCase() + stage.slice(1),
    cell: ({ worker, before }: Row) => <Num text={cyclesText(cyclesOf(worker, before).stages[stage])} />,
  })),
  { title: "All", cell: ({ worker, before }) => <Num text={cyclesText(cyclesOf(worker, before).all)} /> },
  { title: "A packet takes", cell: ({ worker, before }) => <Num text={shortTimeText(cyclesOf(worker, before).nanoseconds)} /> },
  {
    title: "Idle",
    cell: ({ worker, before }) => {
      const { idle } = cyclesOf(worker, before);
      return (
        <>
          <Num text={share(idle)} /> <meter aria-label="Idle share" min={0} max={1} value={idle ?? 0} />
        </>
      );
    },
  },
];

function stateText({ stalled_ms: ms }: Worker): string {
  return !isNumber(ms) ? NO_NUMBER : ms === 0 ? "runs" : `stalled for ${ms < 10_000 ? `${whole(ms)} ms` : spanText(ms / 1000)}`;
}

function countOf(counts: Record<string, unknown> | undefined, name: string): number | null {
  const count = counts?.[name];
  return isNumber(count) ? count : null;
}

const WORK_COLUMNS: Column[] = [
  { title: "State", className: "", cell: ({ worker }) => <span class={(worker.stalled_ms ?? 0) > 0 ? "grave" : ""}><Num text={stateText(worker)} /></span> },
  { title: "Stalls", cell: ({ worker }) => <Num text={whole(worker.stalls)} /> },
  { title: "Packets", cell: ({ worker, before, seconds }) => <Num text={withUnit(rateOf(worker.packets, before?.packets, seconds), "pps")} /> },
  { title: "Of all", cell: ({ spread }) => <><Num text={share(spread)} /> <meter aria-label="Share of all packets" min={0} max={1} value={spread ?? 0} /></> },
  { title: "Dropped", cell: ({ worker, before, seconds }) => <Num text={withUnit(rateOf(worker.verdicts?.["drop"], before?.verdicts?.["drop"], seconds), "pps")} /> },
  { title: "Handed over", cell: ({ worker, before, seconds }) => <Num text={withUnit(rateOf(worker.handed_over, before?.handed_over, seconds), "pps")} /> },
  { title: "Receives", className: "", cell: ({ worker }) => <Text of={(worker.lanes ?? []).filter((lane) => typeof lane === "string").join(", ")} most={80} /> },
];

const TABLE_COLUMNS: Column[] = [
  { title: "Live buckets", cell: ({ worker }) => <Num text={whole(worker.table_entries)} /> },
  { title: "Places", cell: ({ worker }) => <Num text={whole(worker.table_slots)} /> },
  {
    title: "Taken",
    cell: ({ worker }) => {
      const part = isNumber(worker.table_entries) && isNumber(worker.table_slots) && worker.table_slots > 0 ? worker.table_entries / worker.table_slots : null;
      return <><Num text={share(part)} /> <meter aria-label="Share of the table" min={0} max={1} value={part ?? 0} /></>;
    },
  },
  { title: "Gone again", cell: ({ worker, before, seconds }) => <Num text={withUnit(rateOf(worker.table_evictions, before?.table_evictions, seconds), "/s")} /> },
  { title: "Found no place", cell: ({ worker }) => <span class={(worker.table_full ?? 0) > 0 ? "grave" : ""}><Num text={whole(worker.table_full)} /></span> },
];

// Counters of what found no room.
const RINGS = [
  { title: "Questions, ring full", of: "ask_events", name: "ring_full" },
  { title: "No room to wait", of: "ask_events", name: "no_room" },
  { title: "Amounts put off", of: "ledger", name: "ring_full" },
  { title: "No record", of: "ledger", name: "no_record" },
] as const;

const RING_COLUMNS: Column[] = [
  { title: "Wait for owners", cell: ({ worker }) => <Num text={whole(countOf(worker.asks, "waiting_packets"))} /> },
  { title: "Promised", cell: ({ worker }) => <Num text={whole(countOf(worker.asks, "reservations"))} /> },
  { title: "Held to be shaped", cell: ({ worker }) => <Num text={whole(worker.shaping?.held_packets)} /> },
  { title: "Of", cell: ({ worker }) => <Num text={whole(worker.shaping?.held_room)} /> },
  ...RINGS.map(({ title, of, name }) => ({
    title,
    cell: ({ worker, before, seconds }: Row) => {
      const count = countOf(worker[of], name);
      return (
        <span class={(count ?? 0) > 0 ? "grave" : ""}>
          <Num text={whole(count)} /> <small><Num text={withUnit(rateOf(count, countOf(before?.[of], name), seconds), "/s")} /></small>
        </span>
      );
    },
  })),
];

function NoWorkers({ polled }: { polled: Polled<WorkersAnswer> }) {
  if (polled.now !== null) {
    return <Empty>The dataplane has no worker yet.</Empty>;
  }
  if (polled.trouble === null) {
    return <Empty>Workers are asked for…</Empty>;
  }
  const why = poll.shown.value?.answer.box.why;
  return (
    <Empty>
      Nobody says: <Text of={polled.trouble} most={300} />. {why !== null && why !== undefined && <Text of={why} most={300} />}
    </Empty>
  );
}

/** The time of each worker by stage, and whether it is spread. */
export function Workers() {
  const polled = usePolled("/v1/workers", isWorkersAnswer, EVERY_MS).value;
  const rows = rowsOf(polled);
  const [first] = polled.now?.workers ?? [];
  if (rows.length === 0) {
    return <Panel title="Workers"><NoWorkers polled={polled} /></Panel>;
  }
  const packets = rows.reduce((sum, { worker, before }) => sum + (cyclesOf(worker, before).packets ?? 0), 0);
  return (
    <Fresh arrived={polled.at} trouble={polled.trouble} every={EVERY_MS}>
      <Panel title="Workers">
        <WorkerTable label="Workers" columns={WORK_COLUMNS} rows={rows} />
      </Panel>
      <Panel title="Cycles of a packet" note={<> of <Num text={whole(packets)} /> packets {polled.before === null ? "since the start" : "of the last second"}, one turn in {whole(first?.cycles?.of_turns)}</>}>
        {packets === 0 && <Empty>No packet came in the turns that were measured: nothing can be said of one.</Empty>}
        <WorkerTable label="Cycles of a packet by stage" columns={CYCLE_COLUMNS} rows={rows} />
      </Panel>
      <Panel title="Tables">
        <WorkerTable label="Tables" columns={TABLE_COLUMNS} rows={rows} />
      </Panel>
      <Panel title="Rings and what is held">
        <WorkerTable label="Rings" columns={RING_COLUMNS} rows={rows} />
      </Panel>
    </Fresh>
  );
}
