import { fragmentOf } from "../../frame/route";
import { listOf, membersOf, numberOf, textOf } from "../../parts/members";
import { Num } from "../../parts/num";
import { Panel, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { known } from "../../text/known";
import { whole } from "../../text/number";
import { spanText } from "../../text/time";

// The answer of POST /v1/explain?account=1.
type Members = Record<string, unknown>;
const OUTCOMES: Record<string, string> = {
  off: "is off",
  inactive: "is not active at this time",
  no_match: "does not match",
  skipped: "matches, but a part of its key is missing",
  on_sight: "matches and decides on sight",
  metered: "matches",
  unseen: "matches, but its service refuses the packet before any rule",
  of_banned_source: "matches, but the packet's source is banned before any rule",
};

/** `1.5 s`, `3 ms`; a wait that never ends says so. */
export function waitText(ns: unknown): string {
  if (ns === "never" || ns === null || ns === undefined) {
    return "never";
  }
  const seconds = (numberOf(ns) ?? 0) / 1e9;
  return seconds === 0 ? "none" : seconds >= 10 ? spanText(seconds) : seconds >= 0.1 ? `${seconds.toFixed(1)} s` : `${(seconds * 1000).toPrecision(2)} ms`;
}

function leftOf(view: unknown): string {
  return view === null || view === undefined ? "–" : whole(numberOf(membersOf(view)["remaining"]));
}

function LimitRow({ rule, limit }: { rule: string; limit: Members }) {
  const key = textOf(limit["key"]) ?? "";
  const before = membersOf(limit["before"]);
  return (
    <tr>
      <th scope="row">
        <Text of={limit["text"]} most={120} />
      </th>
      <td>
        {key === "" ? "one for all" : <a href={fragmentOf({ screen: "key", subject: rule, words: { key, limit: textOf(limit["name"]) } })}><Text of={key} /></a>}
      </td>
      <td>{limit["fate"] === "exempt" ? "exempt" : limit["fate"] === "banned" ? "banned" : limit["admitted"] === true ? "admits" : <strong>refuses</strong>}</td>
      <td class="number">
        <Num text={whole(numberOf(limit["cost"]))} />
      </td>
      <td class="number">
        <Num text={leftOf(limit["before"])} />
      </td>
      <td class="number">
        <Num text={leftOf(limit["after"])} />
      </td>
      <td>
        <Num text={limit["before"] === null ? "–" : waitText(before["wait_ns"])} />
      </td>
      <td>{limit["by"] === undefined ? "" : <Text of={limit["by"]} most={120} />}</td>
    </tr>
  );
}

function RuleAccount({ rule }: { rule: Members }) {
  const id = textOf(rule["id"]) ?? "";
  const limits = listOf(rule["limits"]).map(membersOf);
  const ban = membersOf(rule["ban"]);
  return (
    <li>
      <strong>
        <Text of={id} />
      </strong>{" "}
      (<Text of={rule["mode"]} />) {known(OUTCOMES, rule["outcome"]) ?? <Text of={rule["outcome"]} />}
      {textOf(rule["because"]) !== null && rule["because"] !== "" && (
        <>
          : <Text of={rule["because"]} most={300} />
        </>
      )}
      {limits.length > 0 && (
        <Scroll label={`Limits of ${id}`.slice(0, 60)}>
          <table class="limits-table">
            <thead>
              <tr>
                {["Limit", "Key", "It", "Asks", "Left before", "Left after", "Wait", "By"].map((title) => (
                  <th scope="col">{title}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {limits.map((limit) => (
                <LimitRow rule={id} limit={limit} />
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {textOf(ban["text"]) !== null && (
        <p>
          Ban: <Text of={ban["text"]} most={200} />
        </p>
      )}
    </li>
  );
}

/** One sentence of what would become of the packet. */
function Verdict({ answer }: { answer: Members }) {
  const rule = textOf(answer["rule"]);
  const wait = answer["wait_ns"];
  return (
    <p class="verdict">
      <strong>
        <Text of={answer["verdict"]} />
      </strong>
      , because: <Text of={answer["reason"]} />
      {rule !== null && (
        <>
          , rule{" "}
          <a href={fragmentOf({ screen: "rule", subject: rule })}>
            <Text of={rule} />
          </a>
        </>
      )}
      {answer["limit"] !== null && answer["limit"] !== undefined && (
        <>
          , limit <Text of={answer["limit"]} />
        </>
      )}
      {rule !== null && wait !== 0 && <>; it would fit in <Num text={waitText(wait)} /></>}.
    </p>
  );
}

export function Account({ answer }: { answer: unknown }) {
  const body = membersOf(answer);
  const rules = listOf(membersOf(body["account"])["rules"]).map(membersOf);
  const [met, others] = [rules.filter((rule) => rule["outcome"] !== "no_match"), rules.filter((rule) => rule["outcome"] === "no_match")];
  return (
    <Panel title="What would become of it">
      <Verdict answer={body} />
      {listOf(body["notes"]).map((note) => (
        <p class="note">
          Note: <Text of={note} most={400} />
        </p>
      ))}
      <ul class="account">
        {met.map((rule) => (
          <RuleAccount rule={rule} />
        ))}
      </ul>
      {met.length === 0 && <p class="empty">No rule matches it: it passes.</p>}
      {others.length > 0 && (
        <details>
          <summary>{others.length} rules that do not match, and why</summary>
          <ul class="account">
            {others.slice(0, 200).map((rule) => (
              <RuleAccount rule={rule} />
            ))}
          </ul>
          {others.length > 200 && <p class="empty">and {others.length - 200} more: sluicectl explain has them all</p>}
        </details>
      )}
      <details>
        <summary>As sluicectl explain says it</summary>
        <ol class="diff">
          {(textOf(body["text"]) ?? "").split("\n").map((line) => (
            <li>
              <Text of={line} most={300} />
            </li>
          ))}
        </ol>
      </details>
    </Panel>
  );
}
