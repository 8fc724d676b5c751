import { useEffect, useState } from "preact/hooks";

import { go, poll, route, zone } from "../../page";
import { ask } from "../../parts/ask";
import { listOf, membersOf, textOf } from "../../parts/members";
import { Empty, Panel, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { instantText } from "../../text/time";
import type { BoxEvent } from "../../transport/answers";
import { reasonOf } from "../../transport/send";
import { eventWords } from "../overview/event_words";
import { KeyActions } from "./key_actions";
import { KeyState } from "./key_state";
import { PacketForm } from "./packet_form";

type Found = { answer: unknown } | { why: string } | null;

/** What is held of a key, asked for again as snapshots come. */
function useKey(rule: string, query: string, round: number): Found {
  const [found, setFound] = useState<Found>(null);
  const snapshot = poll.shown.value?.answer.snapshot ?? 0;
  const [asked, setAsked] = useState(false);
  useEffect(() => setFound(null), [rule, query]);
  useEffect(() => {
    if (asked || document.hidden) {
      return;
    }
    setAsked(true);
    let isOver = false;
    void ask(`/v1/rules/${encodeURIComponent(rule)}/key?${query}`).then((reply) => {
      setAsked(false);
      if (!isOver) {
        setFound(reply.status === 200 ? { answer: reply.body } : { why: reasonOf(reply) });
      }
    });
    return () => {
      isOver = true;
    };
  }, [rule, query, snapshot, round]);
  return found;
}

function KeyEvents({ rule, keyText }: { rule: string; keyText: string }) {
  const [events, setEvents] = useState<Record<string, unknown>[] | null>(null);
  useEffect(() => {
    let isOver = false;
    void ask(`/v1/events?rule=${encodeURIComponent(rule)}&newest=1000`).then((reply) => {
      if (!isOver) {
        setEvents(listOf(membersOf(reply.body)["events"]).map(membersOf).filter((one) => one["key"] === keyText).slice(-20).reverse());
      }
    });
    return () => {
      isOver = true;
    };
  }, [rule, keyText]);
  return (
    <Panel title="Its events">
      {events === null ? (
        <Empty>They are asked for…</Empty>
      ) : events.length === 0 ? (
        <Empty>Among the events that sluiced keeps none is of this key.</Empty>
      ) : (
        <Scroll label="Events of this key">
          <table>
            <tbody>
              {events.map((event) => (
                <tr>
                  <td>{instantText(textOf(event["time"]), zone.value, Date.now())}</td>
                  <td>
                    <Text of={eventWords(event as BoxEvent)} />
                  </td>
                  <td>{event["limit"] !== undefined && <Text of={event["limit"]} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

/** Another key of a rule, by hand. */
function KeyForm({ rule, keyText }: { rule: string; keyText: string }) {
  const [words, set] = useState({ rule, key: keyText });
  useEffect(() => set({ rule, key: keyText }), [rule, keyText]);
  return (
    <Panel title="A key of a rule">
      <form class="packet" onSubmit={(event) => {
        event.preventDefault();
        go({ screen: "key", subject: words.rule.trim(), words: { key: words.key.trim() } });
      }}>
        <label class="line">
          rule <input type="text" name="rule" value={words.rule} maxLength={128} onInput={(event) => set({ ...words, rule: event.currentTarget.value })} />
        </label>
        <label class="line">
          key <input type="text" name="key" value={words.key} placeholder="part|part" maxLength={1024} onInput={(event) => set({ ...words, key: event.currentTarget.value })} />
        </label>
        <button type="submit" disabled={words.rule.trim() === ""}>
          Show
        </button>
      </form>
    </Panel>
  );
}

export function Key() {
  const { subject, words } = route.value;
  const [keyText, limit, tier] = [words.get("key") ?? "", words.get("limit") ?? "", words.get("tier") ?? ""];
  const [round, setRound] = useState(0);
  const query = new URLSearchParams({ key: keyText, ...(tier === "" ? {} : { tier }) }).toString();
  const isOne = subject !== "" && words.has("key");
  return (
    <div class="key-screen">
      {isOne && <OneKey rule={subject} query={query} keyText={keyText} limit={limit} tier={tier} round={round} onDone={() => setRound(round + 1)} />}
      <KeyForm rule={subject} keyText={keyText} />
      <PacketForm />
    </div>
  );
}

function OneKey({ rule, query, keyText, limit, tier, round, onDone }: { rule: string; query: string; keyText: string; limit: string; tier: string; round: number; onDone(): void }) {
  const found = useKey(rule, query, round);
  if (found === null) {
    return <Empty>The key is asked for…</Empty>;
  }
  if ("why" in found) {
    return (
      <Empty>
        Nothing can be said of this key: <Text of={found.why} most={400} />
      </Empty>
    );
  }
  return (
    <>
      <KeyState rule={rule} answer={found.answer} />
      <KeyActions rule={rule} keyText={keyText} limit={limit} tier={tier} onDone={onDone} />
      <KeyEvents rule={rule} keyText={textOf(membersOf(found.answer)["key"]) ?? keyText} />
    </>
  );
}
