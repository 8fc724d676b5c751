import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";

import { Empty } from "../parts/panel";

type Load<Props> = () => Promise<FunctionComponent<Props>>;

/** A screen, or a part of one, that is fetched when it is opened first: a chunk of its own. */
export function inChunk<Props extends object = object>(load: Load<Props>): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | null = null;
  return function Chunk(props: Props) {
    const [View, setView] = useState<FunctionComponent<Props> | null>(() => loaded);
    const [failed, setFailed] = useState(0);
    const [asked, setAsked] = useState(0);
    useEffect(() => {
      let isOpen = true;
      const done = (view: FunctionComponent<Props>): void => {
        loaded = view;
        if (isOpen) {
          setView(() => view);
        }
      };
      if (loaded === null) {
        load().then(done, () => isOpen && setFailed(asked + 1));
      }
      return () => void (isOpen = false);
    }, [asked]);
    if (View !== null) {
      return <View {...props} />;
    }
    if (failed > asked) {
      return (
        <Empty>
          This screen could not be fetched: sluiced does not answer, or has another version of the page now.{" "}
          <button type="button" onClick={() => setAsked(failed)}>
            Try again
          </button>{" "}
          <button type="button" onClick={() => location.reload()}>
            Reload the page
          </button>
        </Empty>
      );
    }
    return <Empty>This screen is fetched…</Empty>;
  };
}
