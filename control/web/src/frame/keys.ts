import { go } from "../page";
import { helpIsOpen } from "./key_help";
import { closeMenu, MENU_ID, menuIsOpen, openMenu } from "./menu";
import type { Screen } from "./screen";
import { SEARCH_ID } from "./search";

// `/` for the search box, `g` and a letter for screens, `m` for the menu, `?` for help, Escape out of a box.
const SOON_MS = 1500;

function isTypedInto(target: EventTarget | undefined): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.closest("input, textarea, select") !== null);
}

function act(key: string): boolean {
  if (key === "/") {
    document.getElementById(SEARCH_ID)?.focus();
  } else if (key === "?") {
    helpIsOpen.value = true;
  } else if (key === "m") {
    openMenu();
    setTimeout(() => document.getElementById(MENU_ID)?.querySelector<HTMLElement>("a")?.focus()); // when it is drawn
  } else {
    return false;
  }
  return true;
}

export function listenToKeys(screens: () => readonly Screen[]): void {
  let began = -SOON_MS;
  addEventListener("keydown", (event) => {
    const target = event.composedPath()[0];
    const typing = isTypedInto(target);
    if (event.key === "Escape" && menuIsOpen.peek()) {
      closeMenu(true);
    } else if (event.key === "Escape" && typing && !event.defaultPrevented) {
      (target as HTMLElement).blur();
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector(".lock, dialog[open]") !== null) {
      return;
    }
    const screen = event.timeStamp - began < SOON_MS ? screens().find((one) => one.key === event.key) : undefined;
    began = event.key === "g" ? event.timeStamp : -SOON_MS;
    if (screen !== undefined) {
      go({ screen: screen.name });
    } else if (act(event.key)) {
      event.preventDefault();
    }
  });
}
