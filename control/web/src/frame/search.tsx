import { useEffect, useState } from "preact/hooks";

import { go, route, session } from "../page";
import { send } from "../transport/send";
import type { Place } from "./route";
import { isAddress } from "./sought";

const MOST = 128; // letters

export const SEARCH_ID = "search";

/** True where the id of some rule has that text; also where nobody can say. */
async function isOfRules(text: string): Promise<boolean> {
  const words = new URLSearchParams({ view: "rules", most: "1", filter: text });
  const reply = await send(`/v1/live?${words.toString()}`, { token: session.token() });
  const rules = (reply.body as { rules?: { matching?: unknown } } | null)?.rules;
  return reply.status !== 200 || rules?.matching !== 0;
}

async function placeOf(text: string): Promise<Place> {
  if (isAddress(text) || (text !== "" && !(await isOfRules(text)))) {
    return { screen: "find", subject: text };
  }
  return { screen: "rules", words: { filter: text } };
}

/** A rule by a part of its id; an address, a network or a host by all that concerns it; from anywhere (`/`). */
export function Search() {
  const { screen, subject, words } = route.value;
  const shown = screen === "find" ? subject : (words.get("filter") ?? "");
  const [text, setText] = useState(shown);
  useEffect(() => setText(shown), [shown]);
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        void placeOf(text.trim()).then((place) => go(place));
      }}
    >
      <label class="unseen" for={SEARCH_ID}>
        Search a rule, address, network or host
      </label>
      <input id={SEARCH_ID} type="search" placeholder="Rule, address, network, host ( / )" maxLength={MOST} value={text}
        onInput={(event) => setText(event.currentTarget.value)} />
    </form>
  );
}
