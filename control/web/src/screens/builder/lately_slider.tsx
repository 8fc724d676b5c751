import { useEffect, useState } from "preact/hooks";

import { ask } from "../../parts/ask";
import { Num } from "../../parts/num";
import { Text } from "../../parts/text";
import { scaled, share } from "../../text/number";
import { draft, edit, textAt } from "./draft";
import { hasSameGroups, withText, type ReadRule } from "./draft_text";
import { shown } from "./judging";
import { latelyOfMap, quantile, refusedShare, whyNoLately, type Lately } from "./lately";
import type { Path } from "./rule_text";
import { amountOf, mostIn, rateText, rateWords, SPAN_SECONDS } from "./rate_text";

const STEPS = 200;
const QUANTILES: [string, number][] = [["p50", 0.5], ["p90", 0.9], ["p99", 0.99], ["most", 1]];

/** What groups of the rule in force did lately; null: nobody knows. */
function useLately(subject: string): { lately: Lately | null; why: string } {
  const [of, setOf] = useState<{ lately: Lately | null; why: string }>({ lately: null, why: "" });
  useEffect(() => {
    if (subject === "") {
      setOf({ lately: null, why: "A new rule has no past: a preview, or a capture, shows what its groups do." });
      return;
    }
    let isOver = false;
    void ask(`/v1/rules/${encodeURIComponent(subject)}/heatmap?limit=0`).then((reply) => {
      const lately = reply.status === 200 ? latelyOfMap(reply.body) : null;
      if (!isOver) {
        setOf({ lately, why: lately === null ? whyNoLately(reply.body) : "" });
      }
    });
    return () => {
      isOver = true;
    };
  }, [subject]);
  return of;
}

function logOf(value: number, [low, high]: [number, number]): number {
  return Math.round((STEPS * Math.log(Math.max(value, low) / low)) / Math.log(high / low));
}

function rangeText(least: number | null, most: number | null): string {
  const [from, to] = [share(least), share(most)];
  return from === to ? from : `${from} to ${to}`;
}

/** The limit over what groups did: p50, p90, p99, and how many of them it would refuse. */
export function LatelySlider({ read, path }: { read: ReadRule; path: Path }) {
  const { lately: ofMap, why } = useLately(draft.value?.subject ?? "");
  const judged = shown.value !== null && hasSameGroups(shown.value.text, read) ? shown.value : null;
  const ofJudged = judged === null ? null : latelyOfMap(judged.judged.rawMaps[0]);
  const lately = ofJudged ?? ofMap;
  const value = (name: string): string | null => textAt(read, [...path, name]);
  const limit = { rate: value("rate"), burst: value("burst"), count: value("count"), window: value("window") };
  const words = limit.rate === null ? null : rateWords(limit.rate);
  const now = amountOf(limit.rate === null ? (limit.count ?? "") : (words?.amount ?? ""));
  if (lately === null || now === null) {
    return <p class="lately">{lately === null ? why : "The slider wants a rate or a count in plain numbers."}</p>;
  }
  const allowed = mostIn(lately.step, limit);
  const perStep = words === null ? 1 : SPAN_SECONDS[words.span] / lately.step;
  const most = quantile(lately, 1) * Math.max(1, perStep);
  const range: [number, number] = [Math.max(1, Math.min(now, quantile(lately, 0.5) * perStep) / 8), Math.max(now, most) * 2 + 2];
  const set = (place: number): void => {
    const next = String(Math.max(1, Math.round(range[0] * (range[1] / range[0]) ** (place / STEPS))));
    edit((text) => (words === null ? withText(text, [...path, "count"], next) : withText(text, [...path, "rate"], rateText({ amount: next, span: words.span }))));
  };
  // A burst is there once: who asks for more than the rate in each column has spent it after some.
  const steady = mostIn(lately.step, { ...limit, burst: limit.burst === null ? null : "0" });
  const refuses = rangeText(allowed === null ? null : refusedShare(lately, allowed), steady === null ? null : refusedShare(lately, steady));
  return (
    <div class="lately">
      <input type="range" aria-label="Limit over what groups did lately" min={0} max={STEPS} value={logOf(now, range)}
        aria-valuetext={`${now}; refuses about ${refuses} of groups`} onInput={(event) => set(Number(event.currentTarget.value))} />
      <p>
        {ofJudged === null ? "By its heat map" : <>By <Text of={judged?.of ?? ""} most={80} /></>}, in {lately.step} s a group asks for at most about{" "}
        {QUANTILES.map(([name, part], at) => (
          <span class="quantile">
            {at > 0 && ", "}
            {name} <Num text={scaled(quantile(lately, part))} />
          </span>
        ))}
        ; this limit refuses about <Num text={refuses} /> of groups.
      </p>
    </div>
  );
}
