import { useEffect, useState } from "preact/hooks";

import { Panel } from "../../parts/panel";
import { Cost } from "./cost";
import { edit, keysAt, rule, textsAt } from "./draft";
import { withItem, withRaw, without, withText } from "./draft_text";
import { Box, InText, Offers } from "./field";
import { leaveOpen, whyNotAdded } from "./unadded";

const OFFERED = ["ip.src", "prefix(ip.src, 24|64)", "prefix(ip.src, 32|64)", "client.ip", "ip.dst", "l4.dport", "http.host", "path_prefix(http.request.uri.path, 2)",
  "http.user_agent", "tls.sni", "registrable_domain(dns.qname)", "ip.src.asn", "ip.src.country"];

export function GroupsStep() {
  const [more, setMore] = useState("");
  useEffect(() => leaveOpen("new key part", whyNotAdded(more, "step 3")), [more]);
  useEffect(() => () => leaveOpen("new key part", null), []);
  const read = rule.value;
  if (typeof read === "string") {
    return null;
  }
  const keys = textsAt(read, ["key"]);
  const names = keysAt(read, []);
  const isOther = names.includes("tiers") || names.includes("on_match") || (names.includes("key") && keys === null);
  const add = (): void => {
    edit((now) => withItem(now, ["key"], more.trim()));
    setMore("");
  };
  return (
    <Panel title="3. Grouped by">
      <Offers id="offered-keys" words={OFFERED} />
      {isOther ? (
        <InText>This rule has tiers, no key, or one that this form does not show: see the text.</InText>
      ) : (
        <>
          <ul class="keys">
            {(keys ?? []).map((key, at) => (
              <li>
                <Box label={`Key part ${at + 1}`} value={key} size={Math.max(16, key.length)} list="offered-keys" onSet={(next) => next.trim() !== "" && edit((now) => withText(now, ["key", at], next))} />
                <button type="button" aria-label={`Leave key part ${at + 1} out`} onClick={() => edit((now) => without(now, ["key", at]))}>
                  ×
                </button>
              </li>
            ))}
          </ul>
          {keys !== null && keys.length === 0 && <p class="empty">One group for everything that matches.</p>}
          {keys === null ? (
            <button type="button" onClick={() => edit((now) => withRaw(now, ["key"], "[ip.src]"))}>
              Group by the source address
            </button>
          ) : (
            <p class="row new">
              <Box label="Another key part" value={more} size={24} list="offered-keys" onSet={setMore} />
              <button type="button" disabled={more.trim() === ""} onClick={add}>
                Add
              </button>
            </p>
          )}
        </>
      )}
      <Cost />
    </Panel>
  );
}
