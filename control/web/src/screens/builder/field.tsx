import type { ComponentChildren } from "preact";

// Boxes of the form. They show what stands in the text, and change it there as they are left or turned.
interface BoxProps {
  label: string;
  value: string;
  onSet(value: string): void;
  size?: number;
  list?: string;
  isFixed?: boolean;
}

export function Box({ label, value, onSet, size = 10, list, isFixed = false }: BoxProps) {
  return (
    <input type="text" aria-label={label} title={label} value={value} size={size} readOnly={isFixed} maxLength={4096} spellcheck={false} autocomplete="off"
      {...(list === undefined ? {} : { list })} onInput={(event) => onSet(event.currentTarget.value)} />
  );
}

export function Choice({ label, value, words, onSet }: { label: string; value: string; words: readonly (string | [string, string])[]; onSet(word: string): void }) {
  const rows = words.map((word): [string, string] => (typeof word === "string" ? [word, word] : word));
  const isKnown = rows.some(([word]) => word === value);
  return (
    <select aria-label={label} title={label} value={value} onChange={(event) => onSet(event.currentTarget.value)}>
      {!isKnown && <option value={value}>{value.slice(0, 40)}</option>}
      {rows.map(([word, name]) => (
        <option value={word} selected={word === value}>
          {name}
        </option>
      ))}
    </select>
  );
}

export function Offers({ id, words }: { id: string; words: readonly string[] }) {
  return (
    <datalist id={id}>
      {words.slice(0, 64).map((word) => (
        <option value={word} />
      ))}
    </datalist>
  );
}

/** What the form cannot show, and where it stands instead. */
export function InText({ children }: { children: ComponentChildren }) {
  return <p class="in-text">{children}</p>;
}
