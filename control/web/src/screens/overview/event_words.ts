import type { BoxEvent } from "../../transport/answers";
import { CLUSTER_KINDS } from "../../text/cluster_words";
import { known } from "../../text/known";
import { isNumber } from "../../text/number";
import { shortSpanText } from "../../text/time";

// Of a limit in monitor as of one that refuses: an event does not say which of both it is.
const KINDS: Record<string, string> = {
  limit_start: "over its limit from now on",
  limit_end: "within its limit again",
  refill: "its bucket is full again",
  lost: "events were lost",
  bridged: "the kernel forwarded frames",
  checksums_trusted: "checksums are trusted",
  debts_forgiven: "debts were forgiven",
  ...CLUSTER_KINDS,
};

/** An event in words; kinds that this page does not know by their name. */
export function eventWords(event: BoxEvent): string {
  const words = event.event === "ban" ? (event["edge"] === "end" ? "ban over" : "banned") : (known(KINDS, event.event) ?? String(event.event));
  const [wait, lasted, lost] = [event["wait_s"], event["for_s"], event["lost"]];
  if (isNumber(wait)) {
    return `${words}, wait ${shortSpanText(wait)}`;
  }
  if (isNumber(lasted)) {
    return `${words}, ${event["edge"] === "start" ? "for" : "after"} ${shortSpanText(lasted)}`;
  }
  if (isNumber(lost)) {
    return `${words}: ${lost}`;
  }
  // Of a cluster's: whom or what it is about.
  const about = [event["node"], event["why"], event["count"], isNumber(event["generation"]) ? `generation ${event["generation"]}` : null,
    isNumber(event["offset_s"]) ? `${event["offset_s"]} s` : null].filter((one) => typeof one === "string" || isNumber(one));
  return about.length === 0 ? words : `${words}: ${about.join(", ")}`;
}
