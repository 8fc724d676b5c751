import { isNumber } from "../../text/number";

// Ports as GET /v1/ports has them, and why frames are lost there.
export interface PortNumbers {
  pair: string;
  side: string;
  device: string;
  driver?: string;
  link_up?: boolean;
  held_down?: boolean;
  gone?: boolean;
  times_gone?: number;
  mtu?: number;
  set_mtu?: number;
  rx_queues?: number;
  hashes?: string;
  asked?: string;
  handed_over?: boolean;
  kernel?: Record<string, unknown> | null;
  other_program?: Record<string, unknown> | null;
  [counter: string]: unknown;
}
export interface PortsAnswer {
  ports: PortNumbers[];
}

export function isPortsAnswer(body: unknown): body is PortsAnswer {
  const ports = (body as Partial<PortsAnswer> | null)?.ports;
  return Array.isArray(ports) && ports.every((one) => typeof one === "object" && one !== null);
}

export interface Cause {
  name: string;
  text: string;
  act: string;
}
export const CAUSES: readonly Cause[] = [
  { name: "rx_missed", text: "receive ring full", act: "workers do not keep up: see their idle share" },
  { name: "rx_no_mbuf", text: "no packet buffer", act: "more `mbufs` in sluice.yaml" },
  { name: "rx_errors", text: "received with an error", act: "cable, optics, the other side's MTU" },
  { name: "tx_errors", text: "not sent by the port", act: "the port's MTU, its driver" },
  { name: "tx_full", text: "transmit queue full", act: "the other side takes less than comes" },
];

export function counterOf(port: PortNumbers | null, name: string): number | null {
  const value = port?.[name];
  return isNumber(value) ? value : null;
}

export function portLike(port: PortNumbers, among: readonly PortNumbers[] | null): PortNumbers | null {
  return among?.find(({ pair, side }) => pair === port.pair && side === port.side) ?? null;
}

export function linkText(port: PortNumbers): string {
  return port.gone === true ? "gone" : port.held_down === true ? "held down" : port.link_up === true ? "up" : "down";
}

/** The MTU, and the one that the port was set up for where its interface has a greater one now. */
export function mtuText({ mtu, set_mtu: set }: PortNumbers): string {
  if (!isNumber(mtu)) {
    return "–";
  }
  return isNumber(set) && set !== 0 && mtu > set ? `${mtu}, set up for ${set}` : String(mtu);
}

/** Fields by which frames are spread over workers. */
export function spreadText({ hashes = "", asked, handed_over: handed }: PortNumbers): string {
  if (handed === true) {
    return hashes === "" ? "handed over" : `${hashes}, handed over`;
  }
  return hashes === "" || asked === undefined || asked === hashes ? hashes : `${hashes}, not ${asked}`;
}
