import { useState } from "preact/hooks";

import { Act } from "../../parts/act";
import { ask } from "../../parts/ask";
import { Panel } from "../../parts/panel";
import { reasonOf } from "../../transport/send";
import { Account } from "./account";
import { KINDS, NO_WORDS, PORTS, questionOf, type Kind, type Words } from "./frame";
import { QUERY_TYPES } from "./payload";

const KIND_NAMES: Record<Kind, string> = {
  http: "an HTTP request", tls: "a TLS handshake", dns: "a DNS query", tcp: "a TCP connection", udp: "a UDP datagram", icmp: "a ping",
};

interface Both {
  words: Words;
  set(words: Words): void;
}
interface LineProps extends Both {
  label: string;
  of: keyof Words;
  hint?: string;
}

function Line({ label, of, words, set, hint = "" }: LineProps) {
  return (
    <label class="line">
      {label} <input type="text" name={of} value={words[of]} placeholder={hint} maxLength={1024} spellcheck={false} autocomplete="off"
        onInput={(event) => set({ ...words, [of]: event.currentTarget.value })} />
    </label>
  );
}

interface ChoiceProps extends LineProps {
  rows: readonly [string, string][];
}

function Pick({ label, of, words, set, rows }: ChoiceProps) {
  return (
    <label class="line">
      {label}{" "}
      <select name={of} value={words[of]} onChange={(event) => set({ ...words, [of]: event.currentTarget.value })}>
        {rows.map(([word, name]) => (
          <option value={word} selected={word === words[of]}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}


function RequestLines(all: Both) {
  return (
    <>
      <Line label="method" of="method" {...all} />
      <Line label="path" of="path" {...all} />
      <Line label="host" of="host" hint="as the receiver" {...all} />
      <Line label="agent" of="agent" {...all} />
      <label class="line">
        headers <textarea name="headers" rows={2} value={all.words.headers} placeholder="Name: value" spellcheck={false}
          onInput={(event) => all.set({ ...all.words, headers: event.currentTarget.value })} />
      </label>
    </>
  );
}

function QueryLines(all: Both) {
  return (
    <>
      <Line label="name" of="name" {...all} />
      <Pick label="type" of="type" rows={Object.keys(QUERY_TYPES).map((type): [string, string] => [type, type])} {...all} />
    </>
  );
}

const DIRECTIONS: [string, string][] = [["in", "from outside"], ["out", "from inside"]];

/** A packet that has not come: what the rules in force would do to it now, without spending anything. */
export function PacketForm() {
  const [words, set] = useState(NO_WORDS);
  const [answer, setAnswer] = useState<unknown>(null);
  const question = questionOf(words);
  const explain = async (): Promise<string | null> => {
    if (typeof question === "string") {
      return question;
    }
    const reply = await ask("/v1/explain?account=1", { method: "POST", body: question });
    setAnswer(reply.status === 200 ? reply.body : null);
    return reply.status === 200 ? null : reasonOf(reply);
  };
  const all = { words, set };
  return (
    <>
      <Panel title="Why was this dropped?">
        <form class="packet" onSubmit={(event) => event.preventDefault()}>
          <Pick label="It is" of="kind" rows={KINDS.map((kind): [string, string] => [kind, KIND_NAMES[kind]])} {...all} />
          <Line label="from" of="src" hint="192.0.2.7" {...all} />
          <Line label="to" of="dst" hint="198.51.100.1" {...all} />
          {words.kind !== "icmp" && <Line label="to port" of="dport" hint={String(PORTS[words.kind])} {...all} />}
          {words.kind === "http" && <RequestLines {...all} />}
          {words.kind === "tls" && <Line label="server name" of="name" {...all} />}
          {words.kind === "dns" && <QueryLines {...all} />}
          <Pick label="comes" of="dir" rows={DIRECTIONS} {...all} />
          <Line label="VLAN" of="vlan" hint="none" {...all} />
        </form>
        <Act verb="explain" isAllowed={typeof question === "string" ? question : null} run={explain}>
          Explain
        </Act>
      </Panel>
      {answer !== null && <Account answer={answer} />}
    </>
  );
}
