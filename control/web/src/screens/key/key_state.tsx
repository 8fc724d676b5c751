import { listOf, membersOf, numberOf, textOf } from "../../parts/members";
import { Num } from "../../parts/num";
import { Panel, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { zone } from "../../page";
import { whole } from "../../text/number";
import { instantText, spanText } from "../../text/time";
import { waitText } from "./account";

// The answer of GET /v1/rules/RULE/key.
type Members = Record<string, unknown>;

function Bucket({ limit, bucket, of }: { limit: Members; bucket: Members; of: string }) {
  return (
    <tr>
      <th scope="row">
        <Text of={limit["text"] ?? limit["name"]} most={120} />
      </th>
      <td>{of}</td>
      <td class="number">
        <Num text={whole(numberOf(bucket["remaining"]))} />
      </td>
      <td class="number">
        <Num text={whole(numberOf(bucket["most"]))} />
      </td>
      <td>
        <Num text={waitText(bucket["wait_ns"])} />
      </td>
      <td>
        {bucket["overridden"] === true ? "numbers of its own" : ""}
        {(numberOf(bucket["step"]) ?? 0) > 0 ? " shared with its network, as the table is full" : ""}
        {bucket["bucket"] === false ? " no bucket: as a new one" : ""}
      </td>
    </tr>
  );
}

function Limits({ body }: { body: Members }) {
  const rows = listOf(body["limits"]).map(membersOf).flatMap((limit) => {
    const shared = membersOf(limit["shared"]);
    return Object.keys(shared).length > 0
      ? [{ limit, bucket: shared, of: "all workers" }]
      : listOf(limit["workers"]).map(membersOf).map((bucket) => ({ limit, bucket, of: `lcore ${String(bucket["lcore"])}` }));
  });
  return rows.length === 0 ? (
    <p class="empty">No worker has a bucket for it: it has sent nothing lately, and has all of its limit.</p>
  ) : (
    <Scroll label="What is left to it">
      <table>
        <thead>
          <tr>
            {["Limit", "At", "Left", "Of", "Wait", ""].map((title) => (
              <th scope="col">{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Bucket {...row} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Where an override or a ban is from, and when it ends. */
function Set({ row }: { row: Members }) {
  const until = textOf(row["until"]);
  return (
    <li>
      Set by operators: <Text of={row["set"]} most={200} />
      {until === null ? ", without an end" : `, until ${instantText(until, zone.value, Date.now())}`}
      {textOf(row["reason"]) !== null && row["reason"] !== "" && (
        <>
          , because: <Text of={row["reason"]} most={200} />
        </>
      )}
    </li>
  );
}

function Bans({ body }: { body: Members }) {
  const ban = membersOf(body["ban"]);
  const workers = listOf(ban["workers"]).map(membersOf);
  const [file, networks] = [membersOf(body["file_ban"]), listOf(body["networks"]).map(membersOf)];
  return (
    <>
      {workers.map((worker) => {
        const left = (numberOf(worker["left_ns"]) ?? 0) / 1e9;
        return (
          <li>
            Penalty box at lcore {String(worker["lcore"])}: refused {String(worker["refusals"])} of {String(ban["after"])} times
            {worker["lifted"] === true ? ", lifted" : left > 0 ? `, banned for ${spanText(left)} more` : ""}
          </li>
        );
      })}
      {Object.keys(file).length > 0 && (
        <li>
          Banned by a file: <Text of={file["reason"] ?? file} most={200} />
        </li>
      )}
      {networks.map((network) => (
        <li>
          Banned with its network <Text of={network["key"] ?? network} most={200} />
        </li>
      ))}
    </>
  );
}

export function KeyState({ rule, answer }: { rule: string; answer: unknown }) {
  const body = membersOf(answer);
  const unanswered = listOf(body["unanswered"]).length;
  return (
    <Panel title="One key">
      <p class="verdict">
        Rule <Text of={rule} />, key <strong><Text of={body["key"]} most={200} /></strong>:{" "}
        {body["banned"] === true ? <strong>banned</strong> : body["exempt"] === true ? <strong>exempt</strong> : "judged by its limits"}
        {textOf(body["mode"]) !== null && (
          <>
            {" "}
            (the rule is in mode <Text of={body["mode"]} />)
          </>
        )}
        .
      </p>
      {unanswered > 0 && <p class="note">{unanswered} workers have not answered: what they hold is missing here.</p>}
      <Limits body={body} />
      <ul>
        {listOf(body["set"]).map(membersOf).map((row) => (
          <Set row={row} />
        ))}
        {body["exempt_by"] !== undefined && (
          <li>
            Exempt by <Text of={body["exempt_by"]} most={200} />
          </li>
        )}
        <Bans body={body} />
      </ul>
    </Panel>
  );
}
