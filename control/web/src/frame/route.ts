// Which screen, whom it is about, and the words of its query; all of it in the fragment, so that a link or a reload
// brings it back.
export interface Route {
  screen: string;
  subject: string;
  words: ReadonlyMap<string, string>;
}

/** Another place of the page. Words that are null or empty stand for themselves by being left out. */
export interface Place {
  screen: string;
  subject?: string;
  words?: Record<string, string | number | null>;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function routeOf(fragment: string): Route {
  const [path = "", words = ""] = fragment.replace(/^#\/?/, "").split("?", 2);
  const slash = path.indexOf("/");
  const screen = slash < 0 ? path : path.slice(0, slash);
  const subject = slash < 0 ? "" : decoded(path.slice(slash + 1));
  return { screen, subject, words: new Map(new URLSearchParams(words)) };
}

export function fragmentOf(place: Place): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(place.words ?? {})) {
    if (value !== null && value !== "") {
      words.set(name, String(value));
    }
  }
  const subject = place.subject ? `/${encodeURIComponent(place.subject)}` : "";
  const query = words.toString();
  return `#/${place.screen}${subject}${query === "" ? "" : `?${query}`}`;
}
