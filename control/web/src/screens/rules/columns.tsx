import type { ComponentChildren } from "preact";

import { Num } from "../../parts/num";
import { Text } from "../../parts/text";
import { Spark } from "../../plot/spark";
import { known } from "../../text/known";
import { share, whole, withUnit } from "../../text/number";
import type { RuleRow } from "../../transport/answers";
import type { Column } from "./rules_query";

// Columns of the table of rules; `sort` is what sluiced sorts by.
export interface RuleColumn {
  title: string;
  sort: Column | null;
  className?: string;
  cell(rule: RuleRow): ComponentChildren;
}

const STATES: Record<string, string> = { inactive: "not at this time", ended: "its time is over" };
const PLACEMENTS: Record<string, string> = {
  local: "local",
  merged: "merged",
  shared: "shared",
  handed_over: "handed over",
};

export const RULE_COLUMNS: RuleColumn[] = [
  {
    title: "Mode",
    sort: "mode",
    cell: (rule) => (
      <>
        <Text of={rule.mode} />
        {known(STATES, rule.state) !== undefined && <small> {known(STATES, rule.state)}</small>}
      </>
    ),
  },
  { title: "Matched", sort: "matched_pps", className: "number", cell: (rule) => <Num text={withUnit(rule.matched_pps, "pps")} /> },
  { title: "Bits", sort: "matched_bps", className: "number", cell: (rule) => <Num text={withUnit(rule.matched_bps, "bit/s")} /> },
  { title: "Refused", sort: "refused_pps", className: "number refused", cell: (rule) => <Num text={withUnit(rule.refused_pps, "pps")} /> },
  {
    title: "Would refuse",
    sort: "would_refuse_pps",
    className: "number would-refuse",
    cell: (rule) => <Num text={withUnit(rule.would_refuse_pps, "pps")} />,
  },
  { title: "Last minute", sort: null, cell: (rule) => <Spark values={rule.spark} /> },
  { title: "Live groups", sort: "live_keys", className: "number", cell: (rule) => <Num text={whole(rule.live_keys)} /> },
  { title: "Limited now", sort: "limited_now", className: "number", cell: (rule) => <Num text={whole(rule.limited_now)} /> },
  { title: "Of the table", sort: "table_share", className: "number", cell: (rule) => <Num text={share(rule.table_share)} /> },
  {
    title: "Over workers",
    sort: "placement",
    cell: (rule) => (rule.placement === null ? <Num text="–" /> : <Text of={known(PLACEMENTS, rule.placement) ?? rule.placement} />),
  },
];
