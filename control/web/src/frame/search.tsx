import { useEffect, useState } from "preact/hooks";

import { go, route } from "../page";
import { MOST_FILTER } from "./route";

export const SEARCH_ID = "search";

/** Rules by a part of their id, from anywhere (`/`). */
export function Search() {
  const [text, setText] = useState(route.value.filter);
  useEffect(() => setText(route.value.filter), [route.value.filter]);
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        go({ screen: "rules", filter: text.trim(), first: 0 });
      }}
    >
      <label class="unseen" for={SEARCH_ID}>
        Search rules
      </label>
      <input id={SEARCH_ID} type="search" placeholder="Search rules ( / )" maxLength={MOST_FILTER} value={text}
        onInput={(event) => setText(event.currentTarget.value)} />
    </form>
  );
}
