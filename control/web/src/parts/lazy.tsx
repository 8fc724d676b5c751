import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";

import { Empty } from "./panel";

/** A screen in a chunk of its own, which is loaded when it is opened first. */
export function lazy(load: () => Promise<FunctionComponent>): FunctionComponent {
  let loaded: FunctionComponent | null = null;
  return function Lazy() {
    const [state, setState] = useState<"ready" | "loading" | "failed">(loaded === null ? "loading" : "ready");
    useEffect(() => {
      if (state !== "loading") {
        return;
      }
      load().then(
        (view) => {
          loaded = view;
          setState("ready");
        },
        () => setState("failed"),
      );
    }, [state]);
    if (loaded !== null) {
      const View = loaded;
      return <View />;
    }
    return state === "failed" ? (
      <Empty>
        This part of the page could not be loaded: sluiced does not answer, or is of another version by now.{" "}
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </Empty>
    ) : (
      <Empty>This part of the page is being loaded…</Empty>
    );
  };
}
