import { useEffect, useRef, useState } from "preact/hooks";

import { go, route, session } from "../../page";
import { Num } from "../../parts/num";
import { Empty, Panel, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { fragmentOf } from "../../frame/route";
import { known } from "../../text/known";
import { whole } from "../../text/number";
import { visibleText } from "../../text/visible";
import { reasonOf, send } from "../../transport/send";
import { UNKNOWN_ANSWER } from "../../transport/known_answer";
import { earlyWords, findingWords, leftOut, noEarlyDrop, nothingKnown, WHATS } from "./find_words";
import { isFindAnswer, joined, type EarlyDrop, type FindAnswer, type Finding } from "./find_answer";

const MOST = 100; // findings of a page

function RuleLink({ rule }: { rule: string }) {
  return (
    <>
      <Text of={rule} />{" "}
      <a class="jump" aria-label={`Show the rule ${visibleText(rule).slice(0, 80)}`} href={fragmentOf({ screen: "rules", words: { filter: rule } })}>
        →
      </a>
    </>
  );
}

function Findings({ findings }: { findings: Finding[] }) {
  return (
    <Scroll label="Findings">
      <table class="findings">
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">Mode</th>
            <th scope="col">What</th>
            <th scope="col">In words</th>
          </tr>
        </thead>
        <tbody>
          {findings.map((finding) => (
            <tr>
              <th scope="row">
                <RuleLink rule={finding.rule} />
              </th>
              <td>
                <Text of={finding.mode} />
                {finding.kind !== undefined && finding.kind !== "rule" && <small> {visibleText(finding.kind)}</small>}
              </td>
              <td>{known(WHATS, finding.what) ?? <Text of={finding.what} />}</td>
              <td>
                <Text of={findingWords(finding)} most={400} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function EarlyDrops({ early }: { early: EarlyDrop }) {
  const nothing = noEarlyDrop(early.state);
  if (nothing !== null || early.entries.length === 0) {
    return <Empty>{nothing === null ? "The kernel drops nothing of it." : <Text of={nothing} most={200} />}</Empty>;
  }
  return (
    <Scroll label="Dropped early">
      <table>
        <thead>
          <tr>
            <th scope="col">Network</th>
            <th scope="col">At</th>
            <th scope="col">Rule</th>
            <th scope="col">Why</th>
            <th scope="col">Dropped of the rule</th>
          </tr>
        </thead>
        <tbody>
          {early.entries.map((entry) => (
            <tr>
              <th scope="row">
                <Text of={entry.network} />
              </th>
              <td>
                <Text of={entry.at.join(", ")} />
              </td>
              <td>
                <RuleLink rule={entry.rule} />
              </td>
              <td>
                <Text of={earlyWords(entry)} most={200} />
              </td>
              <td>
                <Num text={whole(entry.rule_packets)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {early.more && <Empty>There are more, which are not shown.</Empty>}
    </Scroll>
  );
}

function Found({ answer, onMore }: { answer: FindAnswer; onMore: (() => void) | null }) {
  const { inside, everybody, early_drop: early } = answer;
  return (
    <>
      <Panel title="Found" note={<> about the {visibleText(answer.is)} <Text of={answer.of} /></>}>
        {inside !== null && (
          <p>
            Packets of IPv4 have the address inside it:{" "}
            <a href={fragmentOf({ screen: "find", subject: inside })}>
              <Text of={inside} />
            </a>
          </p>
        )}
        {nothingKnown(answer) && (
          <Empty>
            {answer.lists_read && answer.boxes_read ? "Nothing is known of it: no rule names it, and nothing is counted, set or banned of it." : "Of what was looked at, no rule names it, and nothing is counted, set or banned of it."}
            {answer.findings.length > 0 && " These rules would count it, as they would any key like it:"}
          </Empty>
        )}
        {answer.findings.length > 0 && <Findings findings={answer.findings} />}
        {onMore !== null && (
          <button type="button" onClick={onMore}>
            More
          </button>
        )}
        {leftOut(answer).map((one) => (
          <Empty>{one}</Empty>
        ))}
      </Panel>
      {early !== undefined && early !== null && (
        <Panel title="Dropped early, by the kernel">
          <EarlyDrops early={early} />
        </Panel>
      )}
      {everybody !== undefined && everybody.length > 0 && (
        <Panel title="Rules that may meet it as they meet everybody">
          {!answer.lists_read && <Empty>Lists were not looked at: a rule that reads one may name it all the same.</Empty>}
          <ul>
            {everybody.map((rule) => (
              <li>
                <RuleLink rule={rule} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}

/** All that concerns an address, a network, a host or a key: GET /v1/find. */
export function Find() {
  const of = route.value.subject;
  const [answer, setAnswer] = useState<FindAnswer | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const asked = useRef("");
  const ask = async (before: FindAnswer | null): Promise<void> => {
    asked.current = of;
    const words = new URLSearchParams({ of, most: String(MOST), ...(before?.next ? { after: before.next } : {}) });
    const reply = await send(`/v1/find?${words.toString()}`, { token: session.token() });
    if (asked.current !== of) {
      return; // somebody has asked for another one
    }
    if (reply.status === 200 && isFindAnswer(reply.body)) {
      setAnswer(joined(before, reply.body));
      setTrouble(null);
    } else {
      setTrouble(reply.status === 200 ? UNKNOWN_ANSWER : reasonOf(reply));
    }
  };
  useEffect(() => {
    setAnswer(null);
    setTrouble(null);
    if (of !== "") {
      void ask(null);
    }
  }, [of]);
  if (of === "") {
    return <Empty>Nothing is looked for: type an address, a network or a host into the box above.</Empty>;
  }
  return (
    <>
      {trouble !== null && (
        <Panel title="Not found out">
          <p role="alert">
            <Text of={of} />: <Text of={trouble} most={300} />
          </p>
          <button type="button" onClick={() => void ask(null)}>
            Ask again
          </button>{" "}
          <button type="button" onClick={() => go({ screen: "rules", words: { filter: of } })}>
            Look for a rule
          </button>
        </Panel>
      )}
      {answer === null && trouble === null && <Empty>It is looked for in all rules and tables…</Empty>}
      {answer !== null && <Found answer={answer} onMore={answer.next === null ? null : () => void ask(answer)} />}
    </>
  );
}
