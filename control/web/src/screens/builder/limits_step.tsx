import { fragmentOf } from "../../frame/route";
import { Panel } from "../../parts/panel";
import { Text } from "../../parts/text";
import { known } from "../../text/known";
import { checker, edit, isMapAt, keysAt, lengthAt, rule, textAt } from "./draft";
import { withRaw, withText, without, type ReadRule } from "./draft_text";
import { Box, Choice, InText, NumberBox } from "./field";
import { amountOf, rateText, rateWords, secondsOf, SPAN_NAMES, SPANS, UNIT_WORDS, type Span } from "./rate_text";
import { LatelySlider } from "./lately_slider";

const WINDOWS = ["fixed_window", "sliding_window", "sliding_counters", "sliding_log"];
const ALGORITHMS = ["token_bucket", "leaky_bucket", ...WINDOWS];
const MODES: [string, string][] = [
  ["monitor", "monitor: counts what it would refuse"],
  ["enforce", "enforce: refuses"],
  ["off", "off"],
];
// Actions, and the members that go with each.
const ACTIONS: Record<string, { says: string; members: readonly string[] }> = {
  drop: { says: "packets vanish", members: [] },
  reply: { says: "HTTP in clear: a 429; else as reset", members: ["status", "headers", "body", "content_type", "tls_fallback", "slip", "x_ratelimit"] },
  reset: { says: "the connection ends at once", members: [] },
  decoy: { says: "HTTP in clear: a success that never reached the server", members: ["status", "body", "content_type", "slip"] },
  shape: { says: "packets leave later", members: ["max_delay", "overflow"] },
  tag: { says: "packets pass, marked", members: ["dscp", "pcp"] },
  dns_truncate: { says: "DNS over UDP: come again by TCP", members: ["slip", "then"] },
  pass: { says: "packets pass, counted", members: [] },
};
const NEW_LIMIT = { rate: "300/m", burst: "50" };

function withAction(read: ReadRule, action: string): string {
  const now = keysAt(read, ["on_exceed"]);
  const unfit = now.filter((name) => name !== "action" && !known(ACTIONS, action)?.members.includes(name));
  if (now.length === 0 || unfit.length > 0) {
    const more = action === "shape" ? ", max_delay: 200ms" : action === "tag" ? ", dscp: cs1" : "";
    return withRaw(read, ["on_exceed"], `{action: ${action}${more}}`);
  }
  return withText(read, ["on_exceed", "action"], action);
}

function withAlgorithm(read: ReadRule, at: number, algorithm: string): string {
  const isWindow = WINDOWS.includes(algorithm);
  const fits = isWindow ? textAt(read, ["limits", at, "count"]) !== null : textAt(read, ["limits", at, "rate"]) !== null;
  if (fits) {
    return withText(read, ["limits", at, "algorithm"], algorithm);
  }
  const more = isWindow ? "count: 300, window: 1m" : algorithm === "leaky_bucket" ? `rate: ${NEW_LIMIT.rate}, queue: ${NEW_LIMIT.burst}` : `rate: ${NEW_LIMIT.rate}, burst: ${NEW_LIMIT.burst}`;
  const raw = `{algorithm: ${algorithm}, ${more}}`;
  return lengthAt(read, ["limits"]) <= 1 ? withRaw(read, ["limits"], `[${raw}]`) : withText(read, ["limits", at, "algorithm"], algorithm);
}

/** A box of an amount; one that the text writes in another way is changed as it is. */
function Amount(props: { label: string; value: string; size: number; wants: string; onSet(value: string): void }) {
  const isOther = props.value !== "" && amountOf(props.value) === null;
  return <NumberBox {...props} isWhole={(text) => (isOther ? text.trim() !== "" : amountOf(text) !== null)} />;
}

/** "at most [300] [requests] per [minute], [50] at once" */
function Sentence({ read, at }: { read: ReadRule; at: number }) {
  const value = (name: string): string | null => textAt(read, ["limits", at, name]);
  const set = (name: string) => (next: string) => edit((now) => withText(now, ["limits", at, name], next));
  const algorithm = value("algorithm") ?? "token_bucket";
  const rate = value("rate");
  const words = rate === null ? null : rateWords(rate);
  const unit = value("per") ?? textAt(read, ["per"]) ?? "packet";
  const setUnit = (next: string): void => edit((now) => withText(now, value("per") === null ? ["per"] : ["limits", at, "per"], next));
  return (
    <p class="sentence">
      At most{" "}
      {WINDOWS.includes(algorithm) ? (
        <>
          <Amount label={`Count of limit ${at + 1}`} value={value("count") ?? ""} size={6} onSet={set("count")} wants="a count wants a number, as 300" />{" "}
          <Choice label={`Unit of limit ${at + 1}`} value={unit} words={UNIT_WORDS} onSet={setUnit} /> in{" "}
          <NumberBox label={`Window of limit ${at + 1}`} value={value("window") ?? ""} size={6} onSet={set("window")} isWhole={(text) => secondsOf(text) !== null}
            wants="a window wants a time, as 10s" />
        </>
      ) : rate !== null && words === null ? (
        <>
          <Box label={`Rate of limit ${at + 1}`} value={rate} size={12} onSet={set("rate")} /> of{" "}
          <Choice label={`Unit of limit ${at + 1}`} value={unit} words={UNIT_WORDS} onSet={setUnit} />
        </>
      ) : (
        <>
          <Amount label={`Rate of limit ${at + 1}`} value={words?.amount ?? ""} size={7} wants="a rate wants a number, as 300 or 20Mbit"
            onSet={(amount) => set("rate")(rateText({ amount, span: words?.span ?? "s" }))} />{" "}
          <Choice label={`Unit of limit ${at + 1}`} value={unit} words={UNIT_WORDS} onSet={setUnit} /> per{" "}
          <Choice label={`Span of limit ${at + 1}`} value={words?.span ?? "s"} words={SPANS.map((span): [string, string] => [span, SPAN_NAMES[span]])}
            onSet={(span) => set("rate")(rateText({ amount: words?.amount ?? "1", span: span as Span }))} />
          {", "}
          <span class="pair">
            <Amount label={`At once of limit ${at + 1}`} value={value(algorithm === "leaky_bucket" ? "queue" : "burst") ?? ""} size={6}
              wants="what may come at once wants a number, as 50" onSet={set(algorithm === "leaky_bucket" ? "queue" : "burst")} />{" "}
            {algorithm === "leaky_bucket" ? "waiting" : "at once"}
          </span>
        </>
      )}{" "}
      <Choice label={`Algorithm of limit ${at + 1}`} value={algorithm} words={ALGORITHMS} onSet={(next) => edit((now) => withAlgorithm(now, at, next))} />
    </p>
  );
}

function Promise_({ at }: { at: number }) {
  const limit = checker.result.value?.rules[0]?.limits[at];
  return limit === undefined ? null : (
    <p class="promise">
      <Text of={limit.promise ?? limit.text} most={200} />
    </p>
  );
}

function Answers() {
  const answers = checker.result.value?.rules[0]?.answers ?? [];
  return answers.length === 0 ? null : (
    <table class="answers">
      <caption>What the action does to what it refuses</caption>
      <tbody>
        {answers.map((row) => (
          <tr>
            <th scope="row">
              <Text of={row.protocol} />
            </th>
            <td>
              <Text of={row.does} most={160} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A limit that the rule only names: its numbers stand in the rule file, for all rules that name it. */
function NamedLimit({ name, at }: { name: string | null; at: number }) {
  return name === null ? (
    <InText>Limit {at + 1} is written in a way that this form does not show: see the text.</InText>
  ) : (
    <InText>
      Limit {at + 1} is <Text of={name} most={80} />, which may be of other rules too: its numbers stand under <code>limits:</code> of the rule file.{" "}
      <a href={fragmentOf({ screen: "sets", words: { limit: name } })}>Go to them</a>
    </InText>
  );
}

function LimitRow({ read, at, many }: { read: ReadRule; at: number; many: boolean }) {
  const isShown = isMapAt(read, ["limits", at]);
  return (
    <li>
      {isShown ? <Sentence read={read} at={at} /> : <NamedLimit name={textAt(read, ["limits", at])} at={at} />}
      <Promise_ at={at} />
      {isShown && at === 0 && <LatelySlider read={read} />}
      {many && (
        <button type="button" onClick={() => edit((now) => without(now, ["limits", at]))}>
          Leave limit {at + 1} out
        </button>
      )}
    </li>
  );
}

export function LimitsStep() {
  const read = rule.value;
  if (typeof read === "string") {
    return null;
  }
  const mode = textAt(read, ["mode"]);
  const action = textAt(read, ["on_exceed", "action"]) ?? "drop";
  const limits = lengthAt(read, ["limits"]);
  const isOther = keysAt(read, []).includes("tiers") || keysAt(read, []).includes("on_match");
  return (
    <Panel title="1. Limits and action">
      {isOther && <InText>This rule has tiers, or decides without a limit: its limits stand in the text.</InText>}
      {!isOther && limits === 0 && (
        <button type="button" onClick={() => edit((now) => withRaw(now, ["limits"], `[{algorithm: token_bucket, rate: ${NEW_LIMIT.rate}, burst: ${NEW_LIMIT.burst}}]`))}>
          Add a limit
        </button>
      )}
      <ol class="limits">
        {Array.from({ length: limits }, (_, at) => (
          <LimitRow read={read} at={at} many={limits > 1} />
        ))}
      </ol>
      <p class="sentence">
        What is over: <Choice label="Action" value={action} words={Object.entries(ACTIONS).map(([name, { says }]): [string, string] => [name, `${name}: ${says}`])}
          onSet={(next) => edit((now) => withAction(now, next))} />
      </p>
      <p class="sentence">
        Mode: <Choice label="Mode" value={mode ?? ""} words={mode === null ? [["", "as the file's defaults say"], ...MODES] : MODES}
          onSet={(next) => edit((now) => (next === "" ? without(now, ["mode"]) : withText(now, ["mode"], next)))} />
      </p>
      <Answers />
    </Panel>
  );
}
