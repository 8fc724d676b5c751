import { useEffect, useRef, useState } from "preact/hooks";

import { refusalOf } from "../../frame/verbs";
import { who } from "../../page";
import { Act } from "../../parts/act";
import { Num } from "../../parts/num";
import { Text } from "../../parts/text";
import { scaled } from "../../text/number";
import { networksOf } from "./capture_file";
import { Box, Choice } from "./field";
import { JudgedResult } from "./judged_result";
import { cancel, judgingTrouble, preview, replay, shown, work, type Work } from "./judging";

const SECONDS = [10, 20, 30, 60];

function UnderWay({ now }: { now: Work }) {
  const progress = now.kind === "preview" ? now.progress : null;
  return (
    <p role="status">
      {now.kind === "capture" ? (
        <>
          Capture <Text of={now.name} most={80} /> is replayed…{" "}
        </>
      ) : progress === null ? (
        "The preview is begun… "
      ) : (
        <>
          <progress aria-label="Seconds of the preview" max={progress.seconds} value={progress.done} />{" "}
          {progress.state === "judging" ? "All of it is judged: " : <><Num text={progress.done.toFixed(0)} /> of {progress.seconds} s: </>}
          <Num text={scaled(progress.matched)} /> <Text of={progress.unit} most={40} /> match{" "}
        </>
      )}
      <button type="button" onClick={() => cancel()}>
        Cancel
      </button>
    </p>
  );
}

/** A place for a capture: dropped, or chosen by the button in it. */
function CapturePlace({ whyNot }: { whyNot: string | null }) {
  const [isOver, setOver] = useState(false);
  const [inside, setInside] = useState("");
  const button = useRef<HTMLInputElement>(null);
  const why = refusalOf(who.value, "replay") ?? whyNot;
  const take = async (file: File | undefined): Promise<void> => {
    setOver(false);
    if (file !== undefined && why !== null) {
      judgingTrouble.value = `Not replayed: ${why}`;
    } else if (file !== undefined) {
      await replay(file, networksOf(inside));
    }
    if (button.current !== null) {
      button.current.value = ""; // the same file may come again
    }
  };
  return (
    <div
      class={isOver ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        void take(event.dataTransfer?.files[0]);
      }}
    >
      <label>
        Or a capture (pcap or pcapng, at most 8 MiB), dropped here or chosen:{" "}
        <input ref={button} type="file" aria-label="Capture to replay" disabled={why !== null} accept=".pcap,.pcapng,.cap" onChange={(event) => void take(event.currentTarget.files?.[0])} />
      </label>{" "}
      <Box label="Networks inside of this capture" value={inside} size={20} onSet={setInside} /> <small>networks inside: what they send goes out</small>
      {why !== null && <small class="why"> {why}</small>}
    </div>
  );
}

/** The draft over what passes next, or over a capture, before anything is applied. */
export function PreviewPanel({ whyNot }: { whyNot: string | null }) {
  const [seconds, setSeconds] = useState("20");
  useEffect(() => () => cancel("the builder was left"), []);
  const now = work.value;
  return (
    <div class="preview">
      <h3>What it would do</h3>
      {now !== null ? (
        <UnderWay now={now} />
      ) : (
        <p class="row">
          <Choice label="Seconds of the preview" value={seconds} words={SECONDS.map((one): [string, string] => [String(one), `the next ${one} s`])} onSet={setSeconds} />
          <Act verb="preview" isAllowed={whyNot} run={() => preview(Number(seconds)).then(() => null)}>
            Preview
          </Act>
        </p>
      )}
      {judgingTrouble.value !== null && (
        <p class="not-done" role="alert">
          <Text of={judgingTrouble.value} most={400} />
        </p>
      )}
      {now === null && <CapturePlace whyNot={whyNot} />}
      {shown.value !== null && <JudgedResult shown={shown.value} />}
    </div>
  );
}
