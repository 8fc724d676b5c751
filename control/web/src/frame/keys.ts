import { go } from "../page";
import type { Screen } from "./route";
import { SEARCH_ID } from "./search";

// `/` for the search box, `g o` and `g r` for screens, Escape out of a box.
const GO: Record<string, Screen> = { o: "overview", r: "rules" };
const SOON_MS = 1500;

export function listenToKeys(): void {
  let began = -SOON_MS;
  addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement | null;
    const typing = target?.closest("input, textarea, select") ?? null;
    if (event.key === "Escape") {
      (typing as HTMLElement | null)?.blur();
    }
    if (typing !== null || event.ctrlKey || event.metaKey || event.altKey || document.querySelector(".lock") !== null) {
      return;
    }
    const screen = GO[event.key];
    if (event.key === "/") {
      event.preventDefault();
      document.getElementById(SEARCH_ID)?.focus();
    } else if (event.key === "g") {
      began = event.timeStamp;
    } else if (screen !== undefined && event.timeStamp - began < SOON_MS) {
      go({ screen });
    }
  });
}
