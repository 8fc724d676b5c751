import type { ComponentChildren } from "preact";

import { isStale, poll, session, who, zone } from "../page";
import { Num } from "../parts/num";
import { Text } from "../parts/text";
import { visibleText } from "../text/visible";
import { instantText } from "../text/time";
import { Age, Notices } from "./age";
import { Display } from "./display";
import { helpIsOpen, KeyHelp } from "./key_help";
import { Menu, menuIsOpen } from "./menu";
import { PanicButton } from "./panic";
import type { Screen } from "./screen";
import { Search } from "./search";
import { TrialBar } from "./trial";
import { tenant } from "./tenant";
import { stateWords } from "./words";

interface Shown {
  screens: readonly Screen[];
  screen: Screen;
}

function BoxLine() {
  const shown = poll.shown.value;
  if (shown === null) {
    return null;
  }
  const { box } = shown.answer;
  const words = stateWords(box.state);
  const isTenant = tenant.value !== null;
  return (
    <dl class="box">
      <dt class="said">{isTenant ? "Customer" : "Box"}</dt>
      <dd>
        <Text of={tenant.value ?? box.name} most={40} />
      </dd>
      <dt class="said">State</dt>
      <dd class={words.grave ? "state grave" : "state"}>
        <Num text={visibleText(words.word)} />
        {box.since !== null && <small class="more"> since {instantText(box.since, zone.value, Date.now())}</small>}
      </dd>
      {!isTenant && (
        <>
          <dt class="more">Generation</dt>
          <dd class="more">
            <Num text={box.generation === null ? "none" : visibleText(String(box.generation))} />
          </dd>
        </>
      )}
    </dl>
  );
}

function StateReason() {
  const box = poll.shown.value?.answer.box;
  if (box === undefined || !stateWords(box.state).grave) {
    return null;
  }
  return (
    <p class="reason" role="status">
      <strong>{stateWords(box.state).says}</strong> {box.why !== null && <Text of={box.why} most={300} />}
    </p>
  );
}

function Caller() {
  const caller = who.value;
  if (caller === null) {
    return null;
  }
  return (
    <p class="caller">
      <Text of={caller.user} most={40} />, <Text of={caller.role} />
      {caller.via === "session" && (
        <button type="button" onClick={() => void session.leave()}>
          Leave
        </button>
      )}
    </p>
  );
}

export function Frame({ screens, screen, children }: Shown & { children: ComponentChildren }) {
  return (
    <div class={isStale.value ? "page stale" : "page"} inert={session.state.value.kind !== "open"}>
      <header class={menuIsOpen.value ? "open" : ""}>
        <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById("content")?.focus(); }}>
          To the content
        </a>
        <div class="bar">
          <strong class="brand">Sluice</strong>
          <Menu screens={screens} screen={screen} />
          {tenant.value === null && <Search />}
          <Display />
          <button type="button" class="help" aria-label="Keys" onClick={() => (helpIsOpen.value = true)}>
            ?
          </button>
          <Caller />
        </div>
        <div class="bar">
          <BoxLine />
          {tenant.value === null && <PanicButton />}
          <Age />
        </div>
        <StateReason />
        <TrialBar />
        <Notices />
      </header>
      <KeyHelp screens={screens} />
      <main id="content" tabIndex={-1}>
        <h1 class="unseen">{screen.title}</h1>
        {children}
      </main>
    </div>
  );
}
