import { fragmentOf } from "../../frame/route";
import { route } from "../../page";
import { conditionOfKey } from "./condition";
import { full } from "./rule_polls";
import { rulePlaceOf } from "./rule_place";

/** Where a key leads: to its own page, and into a condition. */
export function KeyLinks({ name, limit }: { name: string; limit: number | null }) {
  const { rule } = rulePlaceOf(route.value);
  const condition = conditionOfKey(full.shown.value?.answer.key ?? "", name);
  return (
    <>
      <a href={fragmentOf({ screen: "key", subject: rule, words: { limit, key: name } })}>Key</a>{" "}
      {condition === null ? (
        <small title="Its text cannot stand in a condition as it is">no condition</small>
      ) : (
        <a href={fragmentOf({ screen: "builder", words: { rule, condition } })}>Condition</a>
      )}
    </>
  );
}
