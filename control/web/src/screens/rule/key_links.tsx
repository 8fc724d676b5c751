import { fragmentOf } from "../../frame/route";
import { tenant } from "../../frame/tenant";
import { route } from "../../page";
import { conditionOfKey } from "./condition";
import { full } from "./rule_polls";
import { rulePlaceOf } from "./rule_place";

/** Where a key leads: to its own page, which names a limit by its name, and into a condition. */
export function KeyLinks({ name, limit }: { name: string; limit: number | null }) {
  const { rule } = rulePlaceOf(route.value);
  if (tenant.value !== null) {
    return null; // both screens are for operators
  }
  const shown = full.shown.value?.answer;
  const condition = conditionOfKey(shown?.key ?? "", name);
  const limitName = limit === null ? null : (shown?.limits[limit]?.name ?? null);
  return (
    <>
      <a href={fragmentOf({ screen: "key", subject: rule, words: { limit: limitName, key: name } })}>Key</a>{" "}
      {condition === null ? (
        <small title="Its text cannot stand in a condition as it is">no condition</small>
      ) : (
        <a href={fragmentOf({ screen: "builder", words: { rule, condition } })}>Condition</a>
      )}
    </>
  );
}
