import { useEffect, useRef } from "preact/hooks";
import { signal } from "@preact/signals";

import type { Screen } from "./screen";

export const helpIsOpen = signal(false);

function Keys({ keys, what }: { keys: string[]; what: string }) {
  return (
    <tr>
      <th scope="row">
        {keys.map((key, at) => (
          <>
            {at > 0 && " then "}
            <kbd>{key}</kbd>
          </>
        ))}
      </th>
      <td>{what}</td>
    </tr>
  );
}

/** Keys and what each does; `?` opens it, Escape closes it. */
export function KeyHelp({ screens }: { screens: readonly Screen[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = helpIsOpen.value;
  useEffect(() => {
    if (open && dialog.current?.open === false) {
      dialog.current.showModal();
    } else if (!open) {
      dialog.current?.close();
    }
  }, [open]);
  return (
    <dialog ref={dialog} class="key-help" aria-labelledby="keys-title" onClose={() => (helpIsOpen.value = false)}>
      {open && (
        <>
          <h2 id="keys-title">Keys</h2>
          <div class="scroll" role="region" aria-label="Keys" tabIndex={0}>
            <table>
              <tbody>
                <Keys keys={["/"]} what="to the search box" />
                {screens
                  .filter(({ key }) => key !== null)
                  .map(({ key, title }) => (
                    <Keys keys={["g", key ?? ""]} what={`to ${title}`} />
                  ))}
                <Keys keys={["m"]} what="the menu of screens, where it is folded" />
                <Keys keys={["Escape"]} what="out of a box, the menu or this" />
                <Keys keys={["Tab"]} what="on to the next link, button or box; the first of all leads to the content" />
                <Keys keys={["Ctrl+Enter"]} what="begins the trace, in its condition" />
                <Keys keys={["arrows"]} what="in a heat map: the cell beside" />
                <Keys keys={["Enter"]} what="in a heat map: the groups of the cell" />
                <Keys keys={["t"]} what="in a heat map: the same as a table, and back" />
                <Keys keys={["?"]} what="this" />
              </tbody>
            </table>
          </div>
          <button type="button" onClick={() => (helpIsOpen.value = false)}>
            Close
          </button>
        </>
      )}
    </dialog>
  );
}
