import { useEffect, useRef, useState } from "preact/hooks";

import { noRulesText } from "../../frame/tenant";
import { go, poll, route } from "../../page";
import { Num } from "../../parts/num";
import { Pager } from "../../parts/pager";
import { Empty, Panel, Scroll } from "../../parts/panel";
import { RuleLink } from "../../parts/rule_link";
import { Text } from "../../parts/text";
import { whole } from "../../text/number";
import type { LiveAnswer, RuleRow } from "../../transport/answers";
import { RULE_COLUMNS } from "./columns";
import { liveRules, MOST_FILTER, PAGE, rulesPlace, rulesQueryOf, type Column, type RulesQuery } from "./rules_query";

const FILTER_MS = 200;

function turn(change: Partial<RulesQuery>, replace = false): void {
  go(rulesPlace({ ...rulesQueryOf(route.value), ...change }), replace);
}

function SortHead({ title, sort, className }: { title: string; sort: Column | null; className: string | undefined }) {
  const { sort: by, order } = rulesQueryOf(route.value);
  if (sort === null) {
    return (
      <th scope="col" class={className}>
        {title}
      </th>
    );
  }
  const sorted = by !== sort ? "none" : order === "desc" ? "descending" : "ascending";
  const next = by === sort ? (order === "desc" ? "asc" : "desc") : sort === "id" ? "asc" : "desc";
  return (
    <th scope="col" class={className} aria-sort={sorted}>
      <button type="button" class="sort" onClick={() => turn({ sort, order: next, first: 0 }, true)}>
        {title}
        <span aria-hidden="true">{sorted === "none" ? "" : sorted === "descending" ? " ▾" : " ▴"}</span>
      </button>
    </th>
  );
}

/** Rules whose id has a text in it; asked for as it is typed, a little after the last key. */
function Filter() {
  const { filter } = rulesQueryOf(route.value);
  const [text, setText] = useState(filter);
  const timer = useRef(0);
  useEffect(() => setText(filter), [filter]);
  const change = (next: string): void => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => turn({ filter: next.trim(), first: 0 }, true), FILTER_MS);
  };
  return (
    <label class="filter">
      Filter <input type="search" name="filter" maxLength={MOST_FILTER} value={text} onInput={(event) => change(event.currentTarget.value)} />
    </label>
  );
}

function Pages({ answer, pending }: { answer: LiveAnswer; pending: boolean }) {
  const { first, matching, total, rows } = answer.rules;
  const isLast = first + rows.length >= matching;
  return (
    <Pager onBack={pending || first === 0 ? null : () => turn({ first: Math.max(0, first - PAGE) })}
      onNext={pending || isLast ? null : () => turn({ first: first + PAGE })}>
      {pending ? (
        "These rules are asked for…"
      ) : (
        <>
          <Num text={rows.length === 0 ? "0" : `${whole(first + 1)} to ${whole(first + rows.length)}`} /> of <Num text={whole(matching)} />
        </>
      )}
      {!pending && matching !== total && (
        <>
          {" "}
          that match, <Num text={whole(total)} /> in all
        </>
      )}
    </Pager>
  );
}

function NoRules({ answer }: { answer: LiveAnswer }) {
  const { total, matching, first } = answer.rules;
  if (total === 0) {
    return <Empty>{noRulesText()}</Empty>;
  }
  if (matching > 0) {
    return (
      <Empty>
        There is nothing behind rule {first}: rules have become fewer.{" "}
        <button type="button" onClick={() => turn({ first: 0 })}>
          To the first
        </button>
      </Empty>
    );
  }
  return (
    <Empty>
      None of {whole(total)} rules matches “<Text of={rulesQueryOf(route.value).filter} />”.{" "}
      <button type="button" onClick={() => turn({ filter: "", first: 0 })}>
        Show all
      </button>
    </Empty>
  );
}

function Row({ rule }: { rule: RuleRow }) {
  return (
    <tr class={rule.state === "active" && rule.mode !== "off" ? "" : "resting"}>
      <th scope="row">
        <RuleLink id={rule.id} />
      </th>
      {RULE_COLUMNS.map((column) => (
        <td class={column.className}>{column.cell(rule)}</td>
      ))}
    </tr>
  );
}

export function Rules() {
  const shown = poll.shown.value;
  if (shown === null) {
    return <Empty>No snapshot has come yet. One is asked for each second.</Empty>;
  }
  const { answer, query } = shown;
  const pending = JSON.stringify(query) !== JSON.stringify(liveRules(route.value));
  return (
    <Panel title="Rules">
      <div class="tools">
        <Filter />
        <Pages answer={answer} pending={pending} />
      </div>
      {query.view !== "rules" ? (
        <Empty>The rules are asked for…</Empty>
      ) : answer.rules.rows.length === 0 && !pending ? (
        <NoRules answer={answer} />
      ) : (
        <Scroll label="Rules">
          <table class={pending ? "rules pending" : "rules"} aria-busy={pending}>
            <thead>
              <tr>
                <SortHead title="Rule" sort="id" className={undefined} />
                {RULE_COLUMNS.map((column) => (
                  <SortHead title={column.title} sort={column.sort} className={column.className} />
                ))}
              </tr>
            </thead>
            <tbody>
              {answer.rules.rows.map((rule) => (
                <Row key={rule.id} rule={rule} />
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}
