import { ask } from "../../parts/ask";
import type { Reply } from "../../transport/send";
import { setFilesOf, type SetFile, type SetFiles } from "./set_files";

// Calls that want a certain set in force. A ban, a mode or a number of a key makes another tag of the same rules: nobody has
// changed them then.
const MOST_TRIES = 4;

export async function filesNow(): Promise<SetFiles | Reply> {
  const reply = await ask("/v1/rules/files");
  return (reply.status === 200 ? setFilesOf(reply.body) : null) ?? reply;
}

/** The call again with the tag of now, as long as `isSame` says of the files in force that only their tag is another one. */
export async function throughTags(first: string, call: (tag: string) => Promise<Reply>, isSame: (files: SetFile[]) => boolean): Promise<Reply> {
  let reply = await call(first);
  for (let [tries, tag] = [1, first]; reply.status === 412 && tries < MOST_TRIES; tries += 1) {
    const set = await filesNow();
    if ("status" in set || set.etag === tag || !isSame(set.files)) {
      break;
    }
    tag = set.etag;
    reply = await call(tag);
  }
  return reply;
}
