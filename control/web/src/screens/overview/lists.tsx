import { go, isStale, zone } from "../../page";
import { Num } from "../../parts/num";
import { Empty, Panel, Scroll } from "../../parts/panel";
import { RuleLink } from "../../parts/rule_link";
import { Text } from "../../parts/text";
import { visibleText } from "../../text/visible";
import { whole, withUnit } from "../../text/number";
import { instantText } from "../../text/time";
import type { LiveAnswer } from "../../transport/answers";
import { Spark } from "../../plot/spark";
import { noRulesText } from "../../frame/tenant";
import { hasDataplane } from "../../frame/words";
import { eventWords } from "./event_words";

export function Problems({ answer }: { answer: LiveAnswer }) {
  return (
    <Panel title="What is wrong now">
      {answer.problems.length === 0 ? (
        <Empty>
          {isStale.value
            ? `Not known: no answer since ${instantText(answer.at, zone.value, Date.now())}.`
            : "Nothing that sluiced can see."}
        </Empty>
      ) : (
        <ul class="problems">
          {answer.problems.map((problem) => (
            <li class={problem.severity === "critical" ? "critical" : "warning"}>
              <strong>{problem.severity === "critical" ? "Critical" : "Warning"}</strong> <Text of={problem.text} most={300} />
              {problem.do !== "" && (
                <div class="do">
                  Do: <Text of={problem.do} most={300} />
                </div>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

export function Ports({ answer }: { answer: LiveAnswer }) {
  return (
    <Panel title="Ports">
      {answer.ports.length === 0 ? (
        <Empty>
          {hasDataplane(answer)
            ? "The dataplane has named no port yet."
            : "The dataplane has the ports, and sluiced is not connected to it."}
        </Empty>
      ) : (
        <Scroll label="Ports">
          <table>
            <thead>
              <tr>
                <th scope="col">Port</th>
                <th scope="col">Link</th>
                <th scope="col">In</th>
                <th scope="col">Out</th>
                <th scope="col">Dropped</th>
              </tr>
            </thead>
            <tbody>
              {answer.ports.map((port) => (
                <tr key={port.name}>
                  <th scope="row">
                    <Text of={port.name} most={40} />
                  </th>
                  <td class={port.link === "up" ? "" : "grave"}>
                    <Num text={port.link === "held" ? "held down" : visibleText(String(port.link))} />
                  </td>
                  <td>
                    <Num text={withUnit(port.rx_pps, "pps")} /> <Num text={withUnit(port.rx_bps, "bit/s")} />
                  </td>
                  <td>
                    <Num text={withUnit(port.tx_pps, "pps")} /> <Num text={withUnit(port.tx_bps, "bit/s")} />
                  </td>
                  <td>
                    <Num text={withUnit(port.dropped_pps, "pps")} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

export function BusiestRules({ answer }: { answer: LiveAnswer }) {
  return (
    <Panel title="Busiest rules" note={
        <>
          {" "}
          of <Num text={whole(answer.rules.total)} />
        </>
      }>
      {answer.rules.rows.length === 0 ? (
        <Empty>{noRulesText()}</Empty>
      ) : (
        <Scroll label="Busiest rules">
          <table>
            <thead>
              <tr>
                <th scope="col">Rule</th>
                <th scope="col">Mode</th>
                <th scope="col">Matched</th>
                <th scope="col" class="refused">Refused</th>
                <th scope="col" class="would-refuse">Would refuse</th>
                <th scope="col">Last minute</th>
              </tr>
            </thead>
            <tbody>
              {answer.rules.rows.slice(0, 5).map((rule) => (
                <tr key={rule.id}>
                  <th scope="row">
                    <RuleLink id={rule.id} />
                  </th>
                  <td><Text of={rule.mode} /></td>
                  <td><Num text={withUnit(rule.matched_pps, "pps")} /></td>
                  <td class="refused"><Num text={withUnit(rule.refused_pps, "pps")} /></td>
                  <td class="would-refuse"><Num text={withUnit(rule.would_refuse_pps, "pps")} /></td>
                  <td><Spark values={rule.spark} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

export function NewestEvents({ answer }: { answer: LiveAnswer }) {
  return (
    <Panel title="Newest events">
      {answer.events.length === 0 ? (
        <Empty>
          {hasDataplane(answer)
            ? "None since sluiced began: no rule has `events`, or no key of those that have was refused or banned."
            : "The dataplane tells events, and sluiced is not connected to it."}
        </Empty>
      ) : (
        <Scroll label="Newest events">
          <table class="events">
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Rule</th>
                <th scope="col">Key</th>
                <th scope="col">What</th>
              </tr>
            </thead>
            <tbody>
              {answer.events.slice(0, 20).map((event) => (
                <tr key={`${event.time} ${event.seq}`}>
                  <td>{instantText(event.time, zone.value, Date.now())}</td>
                  <td>
                    <Text of={event["rule"]} />
                    {typeof event["rule"] === "string" && (
                      <button type="button" class="jump" aria-label="Show this rule"
                        onClick={() => go({ screen: "rules", words: { filter: String(event["rule"]) } })}>
                        →
                      </button>
                    )}
                  </td>
                  <td><Text of={event["key"]} /></td>
                  <td><Text of={eventWords(event)} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}
