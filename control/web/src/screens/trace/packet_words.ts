import { isNumber } from "../../text/number";
import type { Packet } from "./trace_answers";

const PROTOCOLS: Readonly<Record<number, string>> = { 1: "icmp", 6: "tcp", 17: "udp", 58: "icmpv6" };

function endText(host: string, port: number | undefined): string {
  return port === undefined ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** `192.0.2.1:53 > 198.51.100.2:4000 udp`, as sluicectl trace has it. */
export function flowText(packet: Packet): string {
  if (packet.src === undefined || packet.dst === undefined) {
    return "no IP";
  }
  const proto = packet.proto ?? -1;
  return `${endText(packet.src, packet.sport)} > ${endText(packet.dst, packet.dport)} ${PROTOCOLS[proto] ?? `proto ${proto}`}`;
}

export function waitText(wait: number | null): string {
  if (wait === null) {
    return "never";
  }
  return !isNumber(wait) || wait === 0 ? "" : wait < 10 ? `${wait.toFixed(3)} s` : `${wait.toFixed(0)} s`;
}

function named(name: string, value: string | null): string {
  return value === null || value === undefined ? "" : ` ${name}=${value.includes(" ") ? `"${value}"` : value}`;
}

/** All that is known of a packet, for its comment in a capture. */
export function commentOf(packet: Packet): string {
  const wait = packet.wait_s === 0 ? "" : named("wait", waitText(packet.wait_s));
  const service = packet.service === null ? "" : named("service", packet.service) + named("would_refuse", packet.would_refuse);
  const matched = (packet.matched ?? []).join(",");
  return `${packet.verdict} ${packet.reason}${named("rule", packet.rule)}${named("key", packet.key)}${named("limit", packet.limit)}${wait}${service}${matched === "" ? "" : named("matched", matched)}`;
}
