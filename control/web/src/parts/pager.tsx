import type { ComponentChildren } from "preact";

interface Props {
  children: ComponentChildren; // where this page lies
  onBack: (() => void) | null; // null: there is nothing before
  onNext: (() => void) | null;
  back?: string;
  next?: string;
}

// A button that is disabled drops the focus, and so does one that goes while rows are asked for: these stay.
function Turn({ act, children }: { act: (() => void) | null; children: string }) {
  return (
    <button type="button" aria-disabled={act === null} onClick={() => act?.()}>
      {children}
    </button>
  );
}

/** Turns pages of a table; the focus stays on the button that was pressed. */
export function Pager({ children, onBack, onNext, back = "Back", next = "Next" }: Props) {
  return (
    <p class="pager">
      <span>{children}</span>
      <Turn act={onBack}>{back}</Turn>
      <Turn act={onNext}>{next}</Turn>
    </p>
  );
}
