import { useEffect, useState } from "preact/hooks";

import { go, route } from "../page";

const MOST = 128; // letters

export const SEARCH_ID = "search";

/** Rules by a part of their id, from anywhere (`/`). */
export function Search() {
  const filter = route.value.words.get("filter") ?? "";
  const [text, setText] = useState(filter);
  useEffect(() => setText(filter), [filter]);
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        go({ screen: "rules", words: { filter: text.trim() } });
      }}
    >
      <label class="unseen" for={SEARCH_ID}>
        Search rules
      </label>
      <input id={SEARCH_ID} type="search" placeholder="Search rules ( / )" maxLength={MOST} value={text}
        onInput={(event) => setText(event.currentTarget.value)} />
    </form>
  );
}
