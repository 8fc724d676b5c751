import { signal } from "@preact/signals";

import { fragmentOf } from "./route";
import type { Screen } from "./screen";

// The screens: a row of links, folded behind a button where there is no room for it.
export const MENU_ID = "menu";
const BUTTON_ID = "menu-button";
export const menuIsOpen = signal(false);

export function openMenu(): void {
  menuIsOpen.value = true;
}

export function closeMenu(toButton = false): void {
  menuIsOpen.value = false;
  if (toButton) {
    document.getElementById(BUTTON_ID)?.focus();
  }
}

export function Menu({ screens, screen }: { screens: readonly Screen[]; screen: Screen }) {
  const open = menuIsOpen.value;
  return (
    <nav aria-label="Screens" class={open ? "menu open" : "menu"}>
      <button type="button" id={BUTTON_ID} aria-expanded={open} aria-controls={MENU_ID} onClick={() => (open ? closeMenu() : openMenu())}>
        <span aria-hidden="true">☰</span> {screen.title}
        <span class="unseen">: other screens</span>
      </button>
      <ul id={MENU_ID}>
        {screens
          .filter((one) => one.isListed || one === screen)
          .map((one) => (
            <li key={one.name}>
              <a href={one.isListed ? fragmentOf({ screen: one.name }) : location.hash} aria-current={one === screen ? "page" : undefined}
                onClick={() => closeMenu()}>
                {one.title}
              </a>
            </li>
          ))}
      </ul>
    </nav>
  );
}
