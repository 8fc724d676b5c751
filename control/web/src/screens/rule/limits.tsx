import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { ask } from "../../parts/ask";
import { fragmentOf } from "../../frame/route";
import { shownId } from "../../frame/tenant";
import { poll } from "../../page";
import { Num } from "../../parts/num";
import { Empty, Panel, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { whole, withUnit } from "../../text/number";
import type { RuleRow } from "../../transport/answers";
import { fullRuleOf, type FullRule } from "./rule_answers";
import { pathOfRule } from "./rule_place";

const MOST_CANDIDATES = 8;

/** Candidates of a rule count beside it, with other numbers: their ids are its own, a dot, and a name. */
function candidatesOf(rule: string, rows: readonly RuleRow[]): RuleRow[] {
  return rows.filter(({ id }) => typeof id === "string" && id.startsWith(`${rule}.`)).slice(0, MOST_CANDIDATES);
}

/** Their limits in words, asked for once for each set of rules. */
function useCandidateLimits(ids: string, generation: string) {
  const found = useSignal<Record<string, FullRule>>({});
  useEffect(() => {
    let over = false;
    found.value = {};
    const askAll = async (): Promise<void> => {
      for (const id of ids === "" ? [] : ids.split("\n")) {
        const reply = await ask(pathOfRule(id, "full"));
        const rule = reply.status === 200 ? fullRuleOf(reply.body) : null;
        if (over) {
          return;
        }
        if (rule !== null) {
          found.value = { ...found.value, [id]: rule };
        }
      }
    };
    void askAll();
    return () => {
      over = true;
    };
  }, [ids, generation]);
  return found.value;
}

function LimitRow({ rule, title, row }: { rule: FullRule | undefined; title: string; row: RuleRow | null }) {
  return (
    <tr>
      <th scope="row"><Text of={title} /></th>
      <td>
        {(rule?.limits ?? []).map((limit) => (
          <p class="limit">
            <Text of={limit.text} most={200} /> <small><Text of={limit.scope} />{limit.bound !== "" && <>; <Text of={limit.bound} most={120} /></>}</small>
          </p>
        ))}
        {rule !== undefined && rule.limits.length === 0 && <small>none: what matches is acted on at once</small>}
      </td>
      <td><Text of={row?.mode ?? ""} /></td>
      <td class="number"><Num text={withUnit(row?.matched_pps, "pps")} /></td>
      <td class="number refused"><Num text={withUnit(row?.refused_pps, "pps")} /></td>
      <td class="number would-refuse"><Num text={withUnit(row?.would_refuse_pps, "pps")} /></td>
      <td class="number"><Num text={whole(row?.live_keys)} /></td>
      <td class="number"><Num text={whole(row?.limited_now)} /></td>
    </tr>
  );
}

/** The limits in force, and beside them those that are only tried. */
export function Limits({ rule }: { rule: FullRule }) {
  const answer = poll.shown.value?.answer;
  const row = answer?.rules.rows.find((one) => one.id === rule.id) ?? null;
  const candidates = candidatesOf(rule.id, answer?.rules.rows ?? []);
  const texts = useCandidateLimits(candidates.map(({ id }) => id).join("\n"), answer?.box.generation ?? "");
  return (
    <Panel title="Limits and candidates">
      <Scroll label="Limits and candidates">
        <table>
          <thead>
            <tr>
              <th scope="col">Rule</th>
              <th scope="col">Limits</th>
              <th scope="col">Mode</th>
              <th scope="col" class="number">Matched</th>
              <th scope="col" class="number refused">Refused</th>
              <th scope="col" class="number would-refuse">Would refuse</th>
              <th scope="col" class="number">Live groups</th>
              <th scope="col" class="number">Limited now</th>
            </tr>
          </thead>
          <tbody>
            <LimitRow rule={rule} title={shownId(rule.id)} row={row} />
            {candidates.map((one) => (
              <LimitRow key={one.id} rule={Object.prototype.hasOwnProperty.call(texts, one.id) ? texts[one.id] : undefined} title={shownId(one.id)} row={one} />
            ))}
          </tbody>
        </table>
      </Scroll>
      {candidates.length === 0 && (
        <Empty>
          No candidate counts beside it. <a href={fragmentOf({ screen: "builder", words: { rule: rule.id } })}>Try other numbers</a> without refusing anything.
        </Empty>
      )}
    </Panel>
  );
}
