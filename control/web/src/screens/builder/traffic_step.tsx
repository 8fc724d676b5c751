import { useEffect, useState } from "preact/hooks";

import { knownWords } from "../../editor/known_words";
import { ask } from "../../parts/ask";
import { listOf, membersOf, textOf } from "../../parts/members";
import { Panel } from "../../parts/panel";
import { conditionOf, OPERATORS, withMore, withoutPart, withRow, writtenRow, type Node, type Row } from "./condition";
import { joinedValues, offeredValue, seenValues, writtenValue } from "./condition_value";
import { draft, edit, rule, textAt } from "./draft";
import { withText, without } from "./draft_text";
import { Box, Choice, InText, Offers } from "./field";
import { shown } from "./judging";
import type { RowRates } from "./row_rates";
import { MeasureRows, RateOfRow } from "./row_rates_view";
import { leaveOpen, whyNotAdded } from "./unadded";

const NO_VALUE: [string, string] = ["", "is set"];
const COMMON = ["l4.dport", "ip.src", "ip.dst", "ip.proto", "http.host", "http.request.method", "http.request.uri.path", "ip.src.country", "ip.src.asn", "tls.sni", "dns.qname"];

function setCondition(next: string): void {
  edit((now) => (next.trim() === "" ? without(now, ["when"]) : withText(now, ["when"], next)));
}

type Seen = ReadonlyMap<string, readonly string[]>;
interface PartProps {
  text: string;
  seen: Seen;
  node: Node;
  name: string;
  rates: RowRates | null;
}

function RowBoxes({ text, seen, node, name, rates }: PartProps & { node: Row }) {
  const set = (change: Partial<Pick<Row, "isNot" | "field" | "operator" | "value">>): void => setCondition(withRow(text, node, change));
  const setValue = (value: string): void => set({ value: seen.get(node.field)?.includes(value) ? offeredValue(value, node.operator) : value });
  return (
    <span class="row">
      <Choice label={`Row ${name}: whether`} value={node.isNot ? "not" : ""} words={[["", "if"], ["not", "if not"]]} onSet={(word) => set({ isNot: word === "not" })} />
      <Box label={`Row ${name}: field`} value={node.field} size={Math.max(12, node.field.length)} list="offered-fields" onSet={(field) => field.trim() !== "" && set({ field: field.trim() })} />
      <Choice label={`Row ${name}: operator`} value={node.operator} words={[NO_VALUE, ...OPERATORS]}
        onSet={(operator) => set({ operator, value: operator === "" ? "" : node.value === "" ? '""' : operator === "in" || node.operator === "in" ? writtenValue(node.value.replace(/^\{|\}$/g, ""), operator) : node.value })} />
      {node.operator !== "" && (
        <Box label={`Row ${name}: value`} value={node.value} size={Math.min(40, Math.max(8, node.value.length))} list={`offered-${node.field}`} onSet={(value) => value.trim() !== "" && setValue(value)} />
      )}
      <button type="button" aria-label={`Leave row ${name} out`} onClick={() => setCondition(withoutPart(text, node))}>
        ×
      </button>
      <RateOfRow row={text.slice(node.from, node.to)} rates={rates} />
    </span>
  );
}

function Part({ text, seen, node, name, rates }: PartProps) {
  if (node.kind === "row") {
    return <RowBoxes text={text} seen={seen} node={node} name={name} rates={rates} />;
  }
  if (node.kind === "text") {
    return <code class="in-text">{node.text}</code>;
  }
  return (
    <ul class="group">
      {node.parts.map((part, at) => (
        <li>
          {at > 0 && <span class="joiner">{node.kind}</span>}
          <Part text={text} seen={seen} node={part} rates={rates} name={`${name}${name === "" ? "" : "."}${at + 1}`} />
        </li>
      ))}
    </ul>
  );
}

/** Another row: what is typed becomes a value as conditions have it. */
function NewRow({ text, seen }: { text: string; seen: Seen }) {
  const [field, setField] = useState("l4.dport");
  const [operator, setOperator] = useState("eq");
  const [value, setValue] = useState("");
  useEffect(() => leaveOpen("new row", whyNotAdded(value.trim() === "" ? "" : `${field.trim()} ${operator} ${value}`, "step 2")), [field, operator, value]);
  useEffect(() => () => leaveOpen("new row", null), []);
  const add = (joiner: "and" | "or"): void => {
    const row = writtenRow({ isNot: false, field: field.trim(), operator, value: writtenValue(value, operator, seen.get(field.trim())) });
    setCondition(withMore(text, joiner, row));
    setValue("");
  };
  const cannot = field.trim() === "" || value.trim() === "";
  return (
    <p class="row new">
      <Box label="New row: field" value={field} size={22} list="offered-fields" onSet={setField} />
      <Choice label="New row: operator" value={operator} words={OPERATORS} onSet={setOperator} />
      <Box label="New row: value" value={value} size={14} list={`offered-${field}`} onSet={setValue} />
      <button type="button" disabled={cannot} onClick={() => add("and")}>
        {text.trim() === "" ? "Add" : "And"}
      </button>
      {text.trim() !== "" && (
        <button type="button" disabled={cannot} onClick={() => add("or")}>
          Or
        </button>
      )}
    </p>
  );
}

/** Values that pass now, of a key that is one field: by the busiest groups of the rule in force; and those of packets that a
    draft was judged over. */
function useSeen(subject: string, keys: string[] | null): Seen {
  const [seen, setSeen] = useState<Seen>(new Map());
  const joined = JSON.stringify(keys ?? []);
  useEffect(() => {
    let isOver = false;
    if (subject !== "" && joined !== "[]") {
      void ask(`/v1/top?rule=${encodeURIComponent(subject)}&by=hits&window=60s&count=20`).then((reply) => {
        const found = seenValues(keys ?? [], listOf(membersOf(reply.body)["keys"]).map((row) => textOf(membersOf(row)["key"]) ?? ""));
        if (!isOver) {
          setSeen(found);
        }
      });
    }
    return () => {
      isOver = true;
    };
  }, [subject, joined]);
  return joinedValues(seen, shown.value?.judged.values ?? new Map());
}

export function TrafficStep({ keys }: { keys: string[] | null }) {
  const [isText, setIsText] = useState(false);
  const [rates, setRates] = useState<RowRates | null>(null);
  const seen = useSeen(draft.value?.subject ?? "", keys);
  const read = rule.value;
  if (typeof read === "string") {
    return null;
  }
  const text = textAt(read, ["when"]) ?? "";
  const node = conditionOf(text);
  const isExpression = isText || (text.trim() !== "" && node === null);
  const fields = knownWords.value.fields.map((one) => one.label);
  return (
    <Panel title="2. Which traffic">
      <Offers id="offered-fields" words={fields.length > 0 ? fields : COMMON} />
      {[...seen].map(([field, words]) => (
        <Offers id={`offered-${field}`} words={words} />
      ))}
      <label class="mode">
        <input type="checkbox" checked={isExpression} disabled={text.trim() !== "" && node === null} onChange={(event) => setIsText(event.currentTarget.checked)} /> as an expression
      </label>
      {isExpression ? (
        <>
          {node === null && text.trim() !== "" && <InText>This condition has parts that no row shows; it stays as it is written.</InText>}
          <textarea aria-label="Condition" rows={3} spellcheck={false} value={text} onInput={(event) => setCondition(event.currentTarget.value.replace(/\n/g, " "))} />
        </>
      ) : (
        <>
          {node === null ? <p class="empty">Every packet: there is no condition.</p> : <Part text={text} seen={seen} node={node} rates={rates} name={node.kind === "row" ? "1" : ""} />}
          <NewRow text={text} seen={seen} />
          <MeasureRows text={text} node={node} rates={rates} onRates={setRates} />
        </>
      )}
    </Panel>
  );
}
