import { useEffect, useState } from "preact/hooks";

import { Panel } from "../../parts/panel";
import { Cost } from "./cost";
import { edit, keysAt, rule, textsAt } from "./draft";
import { withItem, withRaw, without, withText, type ReadRule } from "./draft_text";
import { Box, InText, Offers } from "./field";
import type { Path } from "./rule_text";
import { isTiered, tiersOf, withoutTier, withTier } from "./tiers";
import { leaveOpen, whyNotAdded } from "./unadded";

const OFFERED = ["ip.src", "prefix(ip.src, 24|64)", "prefix(ip.src, 32|64)", "client.ip", "ip.dst", "l4.dport", "http.host", "path_prefix(http.request.uri.path, 2)",
  "http.user_agent", "tls.sni", "registrable_domain(dns.qname)", "ip.src.asn", "ip.src.country"];

/** The key parts of a rule, or of one of its tiers. `of`: behind labels: " of tier 2". */
function KeyParts({ read, tier, of }: { read: ReadRule; tier: Path; of: string }) {
  const [more, setMore] = useState("");
  const name = `new key part${of}`;
  useEffect(() => leaveOpen(name, whyNotAdded(more, "step 3")), [more]);
  useEffect(() => () => leaveOpen(name, null), []);
  const path = [...tier, "key"];
  const keys = textsAt(read, path);
  const add = (): void => {
    edit((now) => withItem(now, path, more.trim()));
    setMore("");
  };
  if (keys === null) {
    return keysAt(read, tier).includes("key") ? (
      <InText>This key is one that this form does not show: see the text.</InText>
    ) : (
      <button type="button" onClick={() => edit((now) => withRaw(now, path, "[ip.src]"))}>
        Group by the source address{of}
      </button>
    );
  }
  return (
    <>
      <ul class="keys">
        {keys.map((key, at) => (
          <li>
            <Box label={`Key part ${at + 1}${of}`} value={key} size={Math.max(16, key.length)} list="offered-keys" onSet={(next) => next.trim() !== "" && edit((now) => withText(now, [...path, at], next))} />
            <button type="button" aria-label={`Leave key part ${at + 1}${of} out`} onClick={() => edit((now) => without(now, [...path, at]))}>
              ×
            </button>
          </li>
        ))}
      </ul>
      {keys.length === 0 && <p class="empty">One group for everything that matches.</p>}
      <p class="row new">
        <Box label={`Another key part${of}`} value={more} size={24} list="offered-keys" onSet={setMore} />
        <button type="button" disabled={more.trim() === ""} onClick={add}>
          Add{of === "" ? "" : ` to${of.replace(" of", "")}`}
        </button>
      </p>
    </>
  );
}

/** Groups of several sizes, judged together. */
function Tiers({ read }: { read: ReadRule }) {
  const tiers = tiersOf(read);
  return (
    <>
      {tiers.map((tier, at) => (
        <fieldset class="tier">
          <legend>Tier {at + 1}</legend>
          <KeyParts read={read} tier={tier} of={` of tier ${at + 1}`} />
          {tiers.length > 1 && (
            <button type="button" onClick={() => edit((now) => withoutTier(now, at))}>
              Leave tier {at + 1} out
            </button>
          )}
        </fieldset>
      ))}
    </>
  );
}

export function GroupsStep() {
  const read = rule.value;
  if (typeof read === "string") {
    return null;
  }
  const decides = keysAt(read, []).includes("on_match");
  const more = decides ? null : withTier(read);
  return (
    <Panel title="3. Grouped by">
      <Offers id="offered-keys" words={OFFERED} />
      {decides && <InText>This rule decides without a limit, and has no groups.</InText>}
      {!decides && (isTiered(read) ? <Tiers read={read} /> : <KeyParts read={read} tier={[]} of="" />)}
      {!decides && (
        <p class="row">
          <button type="button" disabled={more === null} title={more === null ? "key and limits have comments, or are written in a way that this form cannot move: see the text" : ""}
            onClick={() => edit((now) => withTier(now) ?? now.text)}>
            Add a coarser tier
          </button>
        </p>
      )}
      <Cost />
    </Panel>
  );
}
