import type { BoxEvent } from "../../transport/answers";
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
  return isNumber(lost) ? `${words}: ${lost}` : words;
}
