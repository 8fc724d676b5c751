import { useEffect } from "preact/hooks";

import { fragmentOf } from "../../frame/route";
import { shownId, tenant } from "../../frame/tenant";
import { route, zone } from "../../page";
import { Empty, Panel } from "../../parts/panel";
import { Text } from "../../parts/text";
import { whole } from "../../text/number";
import { instantText } from "../../text/time";
import { Limits } from "./limits";
import { Maps } from "./maps";
import { ModeForm } from "./mode_form";
import type { FullRule } from "./rule_answers";
import { OwnNumberList, RuleEventList, TopKeys } from "./rule_lists";
import { full, watchRule } from "./rule_polls";
import { rulePlaceOf } from "./rule_place";

function Head({ rule }: { rule: FullRule }) {
  return (
    <Panel title="Rule">
      <p class="name">
        <strong><Text of={shownId(rule.id)} most={128} /></strong> {rule.description !== "" && <Text of={rule.description} most={300} />}
      </p>
      <dl class="box">
        <dt>Mode</dt>
        <dd>
          <Text of={rule.mode} />
          {rule.fileMode !== rule.mode && rule.fileMode !== "" && <small> (its file says <Text of={rule.fileMode} />)</small>}
        </dd>
        <dt>Matches</dt>
        <dd>{rule.when === "" ? "every packet" : <Text of={rule.when} most={200} />}</dd>
        <dt>Groups by</dt>
        <dd>{rule.key === "" ? "nothing: one bucket for all" : <Text of={rule.key} most={120} />}</dd>
        <dt>What is over</dt>
        <dd><Text of={rule.action} /></dd>
        {rule.ban !== "" && (
          <>
            <dt>Bans</dt>
            <dd><Text of={rule.ban} most={160} /></dd>
          </>
        )}
        {rule.overrides !== "" && (
          <>
            <dt>Numbers of single keys</dt>
            <dd>by <Text of={rule.overrides} most={160} /></dd>
          </>
        )}
        {rule.ownCount > 0 && (
          <>
            <dt>Set at run time</dt>
            <dd>{whole(rule.ownCount)} {rule.ownCount === 1 ? "key" : "keys"}</dd>
          </>
        )}
        {rule.ends !== null && (
          <>
            <dt>Ends</dt>
            <dd>{instantText(rule.ends, zone.value, Date.now())}</dd>
          </>
        )}
      </dl>
      <ModeForm rule={rule.id} mode={rule.mode} />
      <p class="ways">
        <a href={fragmentOf({ screen: "builder", words: { rule: rule.id } })}>Edit</a>{" "}
        {tenant.value === null && <a href={fragmentOf({ screen: "builder", words: { copy: rule.id } })}>Duplicate</a>}
      </p>
    </Panel>
  );
}

function Source({ rule }: { rule: FullRule }) {
  return (
    <Panel title="Text" note={rule.source === null ? undefined : <> <Text of={rule.source.file} /> from line {rule.source.line}</>}>
      {rule.source === null ? (
        <Empty>Which lines of the rule file are this rule's cannot be told.</Empty>
      ) : (
        <pre class="source" tabIndex={0}>
          {rule.source.text.split("\n").map((line) => <span class="line"><Text of={line} most={1000} /></span>)}
        </pre>
      )}
    </Panel>
  );
}

function RuleScreen({ id }: { id: string }) {
  useEffect(() => watchRule(id), []);
  const shown = full.shown.value?.answer ?? null;
  const trouble = full.trouble.value;
  if (shown === null) {
    return (
      <Empty>
        {trouble === null ? "The rule is asked for…" : <>It is not shown: <Text of={trouble} most={300} />.</>}{" "}
        <a href={fragmentOf({ screen: "rules" })}>All rules</a>
      </Empty>
    );
  }
  return (
    <>
      {trouble !== null && <p class="age old" role="alert">What is said of this rule is old: <Text of={trouble} most={300} />.</p>}
      <Head rule={shown} />
      <Maps />
      <Limits rule={shown} />
      <TopKeys />
      <RuleEventList />
      <OwnNumberList rule={shown} />
      <Source rule={shown} />
    </>
  );
}

/** One rule: its maps first, then all that is known of it. */
export function Rule() {
  const { rule } = rulePlaceOf(route.value);
  return rule === "" ? (
    <Empty>No rule is named. <a href={fragmentOf({ screen: "rules" })}>All rules</a></Empty>
  ) : (
    <RuleScreen key={rule} id={rule} />
  );
}
