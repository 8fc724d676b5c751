import { useEffect, useRef, useState } from "preact/hooks";

import { session } from "../page";
import { Text } from "../parts/text";

const TRY_MS = 5000;

// Without a session nothing is shown, and nothing that was typed is lost: the page waits behind this.
export function Lock() {
  const state = session.state.value;
  const [token, setToken] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), [state.kind]);
  useEffect(() => {
    const timer = state.kind === "locked" && state.isTried ? setTimeout(() => void session.begin(null), TRY_MS) : 0;
    return () => clearTimeout(timer);
  }, [state]);
  if (state.kind === "open") {
    return null;
  }
  if (state.kind === "asking") {
    return (
      <div class="lock" role="status">
        <p>Asking sluiced who you are…</p>
      </div>
    );
  }
  return (
    <div class="lock" role="dialog" aria-modal="true" aria-labelledby="lock-title">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void session.enter({ token: token.trim() });
          setToken("");
        }}
      >
        <h1 id="lock-title">{state.isTried ? "Not connected" : "Locked"}</h1>
        <p role="alert">
          <Text of={state.why} most={300} />
        </p>
        {state.isTried && <p>It is asked again every five seconds; nothing of this page is lost.</p>}
        <p>
          On the box, <code>sluicectl dashboard</code> prints a link that opens this page once. Or enter a token that was made
          for you:
        </p>
        <label>
          Token <input ref={field} type="password" name="token" autocomplete="off" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
        </label>
        <button type="submit" disabled={token.trim() === ""}>
          Open
        </button>
        <button type="button" onClick={() => void session.begin(null)}>
          Try again
        </button>
      </form>
    </div>
  );
}
