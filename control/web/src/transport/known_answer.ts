import type { LiveAnswer, SeriesAnswer, Who } from "./answers";

// Answers are of the version of this page, or they are none for it: a proxy's, or those of an older sluiced.
type Members = Record<string, unknown>;

function isMap(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isLiveAnswer(body: unknown): body is LiveAnswer {
  return (
    isMap(body) &&
    typeof body["snapshot"] === "number" &&
    typeof body["run"] === "string" &&
    isMap(body["box"]) &&
    ["problems", "ports", "events"].every((name) => Array.isArray(body[name])) &&
    isMap(body["rules"]) &&
    Array.isArray(body["rules"]["rows"])
  );
}

export function isSeriesAnswer(body: unknown): body is SeriesAnswer {
  return isMap(body) && typeof body["snapshot"] === "number" && typeof body["run"] === "string" && isMap(body["columns"]);
}

export function isWho(body: unknown): body is Who {
  return isMap(body) && typeof body["role"] === "string" && isMap(body["verbs"]);
}

export const UNKNOWN_ANSWER = "What answers is no sluiced of this page's version";
