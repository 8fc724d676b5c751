import { fragmentOf } from "../../frame/route";
import { Panel } from "../../parts/panel";
import { Text } from "../../parts/text";
import { known } from "../../text/known";
import { checker, edit, isMapAt, keysAt, lengthAt, rule, textAt, textsAt } from "./draft";
import { withRaw, withText, without, type ReadRule } from "./draft_text";
import type { Path } from "./rule_text";
import { isTiered, limitsOf, tiersOf, type LimitPlace } from "./tiers";
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

function withAlgorithm(read: ReadRule, path: Path, algorithm: string): string {
  const isWindow = WINDOWS.includes(algorithm);
  const fits = textAt(read, [...path, isWindow ? "count" : "rate"]) !== null;
  if (fits) {
    return withText(read, [...path, "algorithm"], algorithm);
  }
  const more = isWindow ? "count: 300, window: 1m" : algorithm === "leaky_bucket" ? `rate: ${NEW_LIMIT.rate}, queue: ${NEW_LIMIT.burst}` : `rate: ${NEW_LIMIT.rate}, burst: ${NEW_LIMIT.burst}`;
  const raw = `{algorithm: ${algorithm}, ${more}}`;
  const all = path.slice(0, -1);
  return lengthAt(read, all) <= 1 ? withRaw(read, all, `[${raw}]`) : withText(read, [...path, "algorithm"], algorithm);
}

/** A box of an amount; one that the text writes in another way is changed as it is. */
function Amount(props: { label: string; value: string; size: number; wants: string; onSet(value: string): void }) {
  const isOther = props.value !== "" && amountOf(props.value) === null;
  return <NumberBox {...props} isWhole={(text) => (isOther ? text.trim() !== "" : amountOf(text) !== null)} />;
}

/** "at most [300] [requests] per [minute], [50] at once" */
function Sentence({ read, place: { path, at } }: { read: ReadRule; place: LimitPlace }) {
  const value = (name: string): string | null => textAt(read, [...path, name]);
  const set = (name: string) => (next: string) => edit((now) => withText(now, [...path, name], next));
  const algorithm = value("algorithm") ?? "token_bucket";
  const rate = value("rate");
  const words = rate === null ? null : rateWords(rate);
  const unit = value("per") ?? textAt(read, ["per"]) ?? "packet";
  const setUnit = (next: string): void => edit((now) => withText(now, value("per") === null ? ["per"] : [...path, "per"], next));
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
      <Choice label={`Algorithm of limit ${at + 1}`} value={algorithm} words={ALGORITHMS} onSet={(next) => edit((now) => withAlgorithm(now, path, next))} />
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

function LimitRow({ read, place, many }: { read: ReadRule; place: LimitPlace; many: boolean }) {
  const { path, at } = place;
  const isShown = isMapAt(read, path);
  return (
    <li value={at + 1}>
      {isShown ? <Sentence read={read} place={place} /> : <NamedLimit name={textAt(read, path)} at={at} />}
      <Promise_ at={at} />
      {isShown && at === 0 && <LatelySlider read={read} path={path} />}
      {many && (
        <button type="button" onClick={() => edit((now) => without(now, path))}>
          Leave limit {at + 1} out
        </button>
      )}
    </li>
  );
}

/** The limits of a rule, or of one of its tiers. `of`: behind labels: " to tier 2". */
function Limits({ read, tier, places, of }: { read: ReadRule; tier: Path; places: LimitPlace[]; of: string }) {
  return places.length === 0 ? (
    <button type="button" onClick={() => edit((now) => withRaw(now, [...tier, "limits"], `[{algorithm: token_bucket, rate: ${NEW_LIMIT.rate}, burst: ${NEW_LIMIT.burst}}]`))}>
      Add a limit{of}
    </button>
  ) : (
    <ol class="limits">
      {places.map((place) => (
        <LimitRow read={read} place={place} many={places.length > 1} />
      ))}
    </ol>
  );
}

export function LimitsStep() {
  const read = rule.value;
  if (typeof read === "string") {
    return null;
  }
  const mode = textAt(read, ["mode"]);
  const action = textAt(read, ["on_exceed", "action"]) ?? "drop";
  const decides = keysAt(read, []).includes("on_match");
  const tiers = tiersOf(read);
  const limits = limitsOf(read);
  return (
    <Panel title="1. Limits and action">
      {decides && <InText>This rule decides without a limit.</InText>}
      {!decides &&
        tiers.map((tier, at) =>
          isTiered(read) ? (
            <fieldset class="tier">
              <legend>
                Tier {at + 1}: <Text of={(textsAt(read, [...tier, "key"]) ?? []).join(", ") || "one group for all"} most={80} />
              </legend>
              <Limits read={read} tier={tier} places={limits[at] ?? []} of={` to tier ${at + 1}`} />
            </fieldset>
          ) : (
            <Limits read={read} tier={tier} places={limits[at] ?? []} of="" />
          ),
        )}
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
