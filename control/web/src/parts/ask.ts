import { session } from "../page";
import { send, type Call, type Reply } from "../transport/send";

export const COMPILE_MS = 120_000; // rules are compiled meanwhile

/** A call of a screen, with the authority of this page; a session that is over locks the page. */
export async function ask(path: string, call: Call = {}): Promise<Reply> {
  const reply = await send(path, { ...call, token: session.token() });
  if (reply.status === 401) {
    session.lock("The session is over.", true);
  }
  return reply;
}
