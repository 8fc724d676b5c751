import { go } from "../page";
import type { Screen } from "./screen";
import { SEARCH_ID } from "./search";

// `/` for the search box, `g` and a letter for screens, Escape out of a box.
const SOON_MS = 1500;

export function listenToKeys(screens: readonly Screen[]): void {
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
    const screen = screens.find((one) => one.key === event.key);
    if (event.key === "/") {
      event.preventDefault();
      document.getElementById(SEARCH_ID)?.focus();
    } else if (event.key === "g") {
      began = event.timeStamp;
    } else if (screen !== undefined && event.timeStamp - began < SOON_MS) {
      go({ screen: screen.name });
    }
  });
}
