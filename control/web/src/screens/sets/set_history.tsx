import { useEffect, useState } from "preact/hooks";

import { ask, COMPILE_MS } from "../../parts/ask";
import { poll, zone } from "../../page";
import { Act } from "../../parts/act";
import { listOf, membersOf, numberOf, textOf } from "../../parts/members";
import { Num } from "../../parts/num";
import { Empty, Panel, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { byText } from "../../text/by";
import { whole } from "../../text/number";
import { instantText } from "../../text/time";
import { reasonOf } from "../../transport/send";
import { SetDiff } from "./set_diff";

type Members = Record<string, unknown>;

function Cells({ row }: { row: Members }) {
  return (
    <>
      <td>{instantText(textOf(row["at"]), zone.value, Date.now())}</td>
      <td>
        <Text of={byText(row["by_name"] ?? row["by"])} most={40} />
      </td>
      <td class="number">
        <Num text={whole(numberOf(row["rules"]))} />
      </td>
      <td>
        <Text of={row["file"]} most={60} />
      </td>
      <td>
        <Text of={row["note"]} most={120} />
      </td>
    </>
  );
}

interface Chosen {
  number: number;
  answer: unknown;
}

/** Going back to one of the sets before, with what that changes. */
function GoingBack({ chosen, etag, onDone }: { chosen: Chosen; etag: string | null; onDone(): void }) {
  const run = async (): Promise<string | null> => {
    if (etag === null) {
      return "what is in force could not be read";
    }
    const reply = await ask(`/v1/rollback?set=${chosen.number}&confirm=60s`, { method: "POST", ifMatch: etag, signal: AbortSignal.timeout(COMPILE_MS) });
    poll.start();
    if (reply.status === 200) {
      onDone();
    }
    return reply.status === 200 ? null : reasonOf(reply);
  };
  const trial = poll.shown.value?.answer.trial ?? null;
  return (
    <div class="on-trial">
      <p>
        <strong>Going back to set {chosen.number} changes:</strong>
      </p>
      <SetDiff answer={chosen.answer} />
      <Act verb="rollback" isAllowed={trial === null ? null : "rules are on trial: confirm them, or go back"} run={run}>
        Go back to it for 60 s
      </Act>
    </div>
  );
}

export function SetHistory() {
  const generation = poll.shown.value?.answer.box.generation ?? "";
  const [body, setBody] = useState<Members | null>(null);
  const [why, setWhy] = useState<string | null>(null);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  useEffect(() => {
    let isOver = false;
    setChosen(null);
    void ask("/v1/history").then((reply) => {
      if (!isOver) {
        setBody(reply.status === 200 ? membersOf(reply.body) : null);
        setWhy(reply.status === 200 ? null : reasonOf(reply));
      }
    });
    return () => {
      isOver = true;
    };
  }, [generation]);
  if (body === null) {
    return (
      <Panel title="History">
        <Empty>{why === null ? "The history is asked for…" : <>It cannot be shown: <Text of={why} most={300} /></>}</Empty>
      </Panel>
    );
  }
  const inForce = membersOf(body["in_force"]);
  const sets = listOf(body["sets"]).map(membersOf);
  const look = (number: number) => async (): Promise<string | null> => {
    const reply = await ask(`/v1/rollback/diff?set=${number}`, { method: "POST", signal: AbortSignal.timeout(COMPILE_MS) });
    if (reply.status === 200) {
      setChosen({ number, answer: reply.body });
    }
    return reply.status === 200 ? null : reasonOf(reply);
  };
  return (
    <Panel title="History">
      <Scroll label="Sets in force and before">
        <table>
          <thead>
            <tr>
              {["Set", "At", "By", "Rules", "File", "Note", ""].map((title) => (
                <th scope="col">{title}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Object.keys(inForce).length > 0 && (
              <tr>
                <th scope="row">in force</th>
                <Cells row={inForce} />
                <td />
              </tr>
            )}
            {sets.map((row) => (
              <tr>
                <th scope="row">{String(row["number"])}</th>
                <Cells row={row} />
                <td>
                  <Act verb="diff" run={look(numberOf(row["number"]) ?? 0)}>
                    Go back…
                  </Act>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {sets.length === 0 && <Empty>No set was in force before this one.</Empty>}
      {chosen !== null && <GoingBack chosen={chosen} etag={textOf(inForce["etag"])} onDone={() => setChosen(null)} />}
    </Panel>
  );
}
