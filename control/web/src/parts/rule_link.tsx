import { fragmentOf } from "../frame/route";
import { shownId } from "../frame/tenant";
import { Text } from "./text";

const LONGEST = 128; // letters of an id
const NEVER_CUT = 2000; // even where each letter is an escape: a link has no button in it

/** The id of a rule, and the way to its screen. */
export function RuleLink({ id }: { id: unknown }) {
  if (typeof id !== "string" || id === "" || id.length > LONGEST) {
    return <Text of={typeof id === "string" ? shownId(id) : id} />;
  }
  return (
    <a href={fragmentOf({ screen: "rule", subject: id })}>
      <Text of={shownId(id)} most={NEVER_CUT} />
    </a>
  );
}
