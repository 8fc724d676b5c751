import { useEffect, useRef, useState } from "preact/hooks";

import { poll, session, who } from "../page";
import { Text } from "../parts/text";
import { reasonOf, send } from "../transport/send";
import { refusalOf } from "./verbs";

interface DialogProps {
  name: string; // of the box
  pass: boolean; // false: it is judged again
  onClose(): void;
}

/** Asks for the name of the box: whoever has two pages open means one of them. */
function PanicDialog({ name, pass, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const [refused, setRefused] = useState<string | null>(null);
  const [isUnderWay, setUnderWay] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const isNamed = typed.trim() === name && !isUnderWay;
  const act = async (): Promise<void> => {
    setUnderWay(true);
    setRefused(null);
    const reply = await send("/v1/panic", { method: "POST", token: session.token(), body: { pass } });
    setUnderWay(false);
    if (reply.status === 200) {
      onClose();
    } else if (reply.status === 401) {
      session.lock("The session is over.", true);
    } else {
      setRefused(reasonOf(reply));
    }
    poll.start();
  };
  return (
    <dialog class="panic" ref={dialog} onClose={onClose} aria-labelledby="panic-title">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isNamed) {
            void act();
          }
        }}
      >
        <h2 id="panic-title">{pass ? "Panic: let everything pass" : "Judge packets again"}</h2>
        <p>
          {pass
            ? "Everything is forwarded unjudged on every port of this box, until somebody ends it: no limit, no ban and no drop holds meanwhile."
            : "The rules in force hold again from now on."}
        </p>
        <label>
          Name of the box, <Text of={name} most={60} />:{" "}
          <input type="text" name="box" autocomplete="off" autocapitalize="off" spellcheck={false} value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
        {refused !== null && (
          <p role="alert">
            Not done: <Text of={refused} most={300} />
          </p>
        )}
        <p class="buttons">
          <button type="submit" class="danger" aria-disabled={!isNamed}>
            {pass ? "Let everything pass" : "Judge again"}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </dialog>
  );
}

/** In an emergency nothing else bars it: neither an old page nor a screen that failed. */
export function PanicButton() {
  const [asked, setAsked] = useState<boolean | null>(null); // what is asked: to pass, or to judge again
  const box = poll.shown.value?.answer.box;
  if (box === undefined || box.name === null) {
    return null;
  }
  const refusal = refusalOf(who.value, "panic");
  const isOn = box.state === "panic";
  return (
    <span class="verb">
      <button type="button" class="danger" disabled={refusal !== null} aria-describedby={refusal === null ? undefined : "refusal-panic"}
        onClick={() => setAsked(!isOn)}>
        {isOn ? "End panic…" : "Panic…"}
      </button>
      {refusal !== null && <small id="refusal-panic">{refusal}</small>}
      {asked !== null && <PanicDialog name={box.name} pass={asked} onClose={() => setAsked(null)} />}
    </span>
  );
}
