import { usePolled, type Polled } from "../../frame/polled";
import { poll } from "../../page";
import { Fresh } from "../../parts/fresh";
import { Num } from "../../parts/num";
import { Empty, Panel, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { isNumber, whole, withUnit } from "../../text/number";
import { rateOf } from "../workers/worker_numbers";
import { CAUSES, counterOf, isPortsAnswer, linkText, mtuText, portLike, spreadText, type PortNumbers, type PortsAnswer } from "./port_numbers";

const EVERY_MS = 1000;

interface Row {
  port: PortNumbers;
  rate(name: string): number | null;
}

function rowsOf({ now, before, seconds }: Polled<PortsAnswer>): Row[] {
  return (now?.ports ?? []).map((port) => {
    const last = portLike(port, before?.ports ?? null);
    return { port, rate: (name) => rateOf(counterOf(port, name), counterOf(last, name), seconds) };
  });
}

function Name({ port }: { port: PortNumbers }) {
  return (
    <th scope="row">
      <Text of={port.pair} most={40} /> <Text of={port.side} most={40} />
    </th>
  );
}

function bits(rate: number | null): number | null {
  return rate === null ? null : rate * 8;
}

function Links({ rows }: { rows: readonly Row[] }) {
  return (
    <Scroll label="Links">
      <table class="ports">
        <thead>
          <tr>
            {["Port", "Link", "In", "Out"].map((title) => <th scope="col">{title}</th>)}
            {["MTU", "Queues"].map((title) => <th scope="col" class="number">{title}</th>)}
            {["Spread by", "Device"].map((title) => <th scope="col">{title}</th>)}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ port, rate }) => (
            <tr key={`${port.pair} ${port.side}`}>
              <Name port={port} />
              <td class={linkText(port) === "up" ? "" : "grave"}>
                <Num text={linkText(port)} />
                {isNumber(port.times_gone) && port.times_gone > 0 && <small> gone <Num text={whole(port.times_gone)} /> times</small>}
              </td>
              <td><Num text={withUnit(rate("rx_packets"), "pps")} /> <Num text={withUnit(bits(rate("rx_bytes")), "bit/s")} /></td>
              <td><Num text={withUnit(rate("tx_packets"), "pps")} /> <Num text={withUnit(bits(rate("tx_bytes")), "bit/s")} /></td>
              <td class="number"><Num text={mtuText(port)} /></td>
              <td class="number"><Num text={whole(port.rx_queues)} /></td>
              <td><Text of={spreadText(port)} /></td>
              <td><Text of={port.device} /> <small><Text of={port.driver} /></small></td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Losses({ rows }: { rows: readonly Row[] }) {
  const lost = rows.flatMap((row) => CAUSES.filter(({ name }) => (counterOf(row.port, name) ?? 0) > 0).map((cause) => ({ ...row, cause })));
  if (lost.length === 0) {
    const isKnown = rows.some(({ port }) => CAUSES.some(({ name }) => counterOf(port, name) !== null));
    return <Empty>{isKnown ? "No port has lost a frame since the dataplane began." : "The ports count no losses."}</Empty>;
  }
  return (
    <Scroll label="Lost frames">
      <table class="ports">
        <thead>
          <tr>
            <th scope="col">Port</th>
            <th scope="col">Lost for</th>
            <th scope="col" class="number">Frames</th>
            <th scope="col" class="number">Now</th>
            <th scope="col">Look at</th>
          </tr>
        </thead>
        <tbody>
          {lost.map(({ port, cause, rate }) => (
            <tr key={`${port.pair} ${port.side} ${cause.name}`}>
              <Name port={port} />
              <td>{cause.text}</td>
              <td class="number"><Num text={whole(counterOf(port, cause.name))} /></td>
              <td class={`number${(rate(cause.name) ?? 0) > 0 ? " grave" : ""}`}><Num text={withUnit(rate(cause.name), "/s")} /></td>
              <td>{cause.act}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const KERNEL = [
  ["Dropped early", "dropped_packets"],
  ["Networks", "early_networks"],
  ["Left out", "early_left_out"],
  ["Bridged", "bridged_packets"],
  ["For the box", "managed_packets"],
  ["Refused of these", "managed_refused"],
] as const;

function Kernel({ rows }: { rows: readonly Row[] }) {
  const others = rows.filter(({ port }) => typeof port.other_program === "object" && port.other_program !== null);
  const ours = rows.filter(({ port }) => typeof port.kernel === "object" && port.kernel !== null);
  return (
    <Panel title="In the kernel">
      {others.map(({ port }) => (
        <p class="losses" role="note" key={`${port.pair} ${port.side}`}>
          At <Text of={port.pair} /> <Text of={port.side} /> there is a program that is not this box's: <Text of={port.other_program?.["mode"]} />, of <Text of={port.other_program?.["owner"]} />.
        </p>
      ))}
      {ours.length === 0 ? (
        <Empty>The kernel has no program of this box at any port: nothing is dropped early there.</Empty>
      ) : (
        <Scroll label="In the kernel">
          <table class="ports">
            <thead>
              <tr>
                <th scope="col">Port</th>
                <th scope="col">Mode</th>
                {KERNEL.map(([title]) => <th scope="col" class="number">{title}</th>)}
              </tr>
            </thead>
            <tbody>
              {ours.map(({ port }) => (
                <tr key={`${port.pair} ${port.side}`}>
                  <Name port={port} />
                  <td><Text of={port.kernel?.["mode"]} />, fails <Text of={port.kernel?.["fail"]} /></td>
                  {KERNEL.map(([, name]) => <td class="number"><Num text={whole(port.kernel?.[name] as number | null)} /></td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

function NoPorts({ polled }: { polled: Polled<PortsAnswer> }) {
  if (polled.now !== null) {
    return <Empty>The dataplane has named no port yet.</Empty>;
  }
  if (polled.trouble === null) {
    return <Empty>Ports are asked for…</Empty>;
  }
  const why = poll.shown.value?.answer.box.why;
  return (
    <Empty>
      The dataplane has the ports, and nobody says: <Text of={polled.trouble} most={300} />. {why !== null && why !== undefined && <Text of={why} most={300} />}
    </Empty>
  );
}

export function PortScreen() {
  const polled = usePolled("/v1/ports", isPortsAnswer, EVERY_MS).value;
  const rows = rowsOf(polled);
  if (rows.length === 0) {
    return <Panel title="Ports"><NoPorts polled={polled} /></Panel>;
  }
  return (
    <Fresh arrived={polled.at} trouble={polled.trouble} every={EVERY_MS}>
      <Panel title="Ports">
        <Links rows={rows} />
      </Panel>
      <Panel title="Lost frames">
        <Losses rows={rows} />
      </Panel>
      <Kernel rows={rows} />
    </Fresh>
  );
}
