import type { ComponentChildren } from "preact";

/** A part of a screen, under its heading. */
export function Panel({ title, note, children }: { title: string; note?: ComponentChildren; children: ComponentChildren }) {
  const id = `panel-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 id={id}>
        {title}
        {note !== undefined && <small>{note}</small>}
      </h2>
      {children}
    </section>
  );
}

/** Nothing to show, and which of its causes holds. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** A table that is wider than a phone scrolls by itself. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
