import type { BoxEvent } from "../../transport/answers";
import { known } from "../../text/known";
import { isNumber } from "../../text/number";
import { spanText } from "../../text/time";

const KINDS: Record<string, string> = {
  limit_start: "refused from now on",
  limit_end: "no longer refused",
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
    return `${words}, wait ${spanText(wait)}`;
  }
  if (isNumber(lasted)) {
    return `${words}, ${event["edge"] === "start" ? "for" : "after"} ${spanText(lasted)}`;
  }
  return isNumber(lost) ? `${words}: ${lost}` : words;
}
