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

interface LineProps {
  label: string;
  of: keyof Words;
  words: Words;
  set(words: Words): void;
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
          <label class="line">
            It is{" "}
            <select name="kind" value={words.kind} onChange={(event) => set({ ...words, kind: KINDS.find((kind) => kind === event.currentTarget.value) ?? "http" })}>
              {KINDS.map((kind) => (
                <option value={kind} selected={kind === words.kind}>
                  {KIND_NAMES[kind]}
                </option>
              ))}
            </select>
          </label>
          <Line label="from" of="src" hint="192.0.2.7" {...all} />
          <Line label="to" of="dst" hint="198.51.100.1" {...all} />
          {words.kind !== "icmp" && <Line label="to port" of="dport" hint={String(PORTS[words.kind])} {...all} />}
          {words.kind === "http" && (
            <>
              <Line label="method" of="method" {...all} />
              <Line label="path" of="path" {...all} />
              <Line label="host" of="host" hint="as the receiver" {...all} />
              <Line label="agent" of="agent" {...all} />
              <label class="line">
                headers <textarea name="headers" rows={2} value={words.headers} placeholder="Name: value" spellcheck={false}
                  onInput={(event) => set({ ...words, headers: event.currentTarget.value })} />
              </label>
            </>
          )}
          {words.kind === "tls" && <Line label="server name" of="name" {...all} />}
          {words.kind === "dns" && (
            <>
              <Line label="name" of="name" {...all} />
              <label class="line">
                type{" "}
                <select name="type" value={words.type} onChange={(event) => set({ ...words, type: event.currentTarget.value })}>
                  {Object.keys(QUERY_TYPES).map((type) => (
                    <option value={type} selected={type === words.type}>
                      {type}
                    </option>
                  ))}
                </select>
              </label>
            </>
          )}
          <label class="line">
            comes{" "}
            <select name="dir" value={words.dir} onChange={(event) => set({ ...words, dir: event.currentTarget.value === "out" ? "out" : "in" })}>
              <option value="in" selected={words.dir === "in"}>from outside</option>
              <option value="out" selected={words.dir === "out"}>from inside</option>
            </select>
          </label>
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
