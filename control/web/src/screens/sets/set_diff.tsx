import { listOf, membersOf, textOf } from "../../parts/members";
import { Text } from "../../parts/text";

// The answer of POST /v1/rules/diff and /v1/rollback/diff, in sentences.
function texts(list: unknown): string[] {
  return listOf(list).filter((one): one is string => typeof one === "string");
}

function Names({ title, names }: { title: string; names: string[] }) {
  return names.length === 0 ? null : (
    <li>
      {title}:{" "}
      {names.map((name) => (
        <span class="name">
          <Text of={name} />{" "}
        </span>
      ))}
    </li>
  );
}

function Limit({ limit }: { limit: Record<string, unknown> }) {
  const name = textOf(limit["name"]) ?? "?";
  const owing = limit["owing"];
  switch (limit["change"]) {
    case "reset":
      return (
        <li class="anew">
          Limit <Text of={name} /> <strong>starts anew</strong>: <Text of={limit["because"]} most={200} />
        </li>
      );
    case "changed":
      return (
        <li>
          Limit <Text of={name} /> goes from <Text of={limit["from"]} /> to <Text of={limit["to"]} />; its buckets stay
          {typeof owing === "number" && owing > 0 && <>, {owing} groups owe more than the new one holds</>}
        </li>
      );
    default:
      return (
        <li>
          Limit <Text of={name} />: {limit["change"] === "added" ? "added" : "removed"}
        </li>
      );
  }
}

function Changed({ rule }: { rule: Record<string, unknown> }) {
  return (
    <li>
      <strong>
        <Text of={rule["id"]} />
      </strong>
      <ul>
        {listOf(rule["settings"]).map(membersOf).map((one) => (
          <li>
            <Text of={one["what"]} />: <Text of={one["from"]} most={120} /> → <Text of={one["to"]} most={120} />
          </li>
        ))}
        {listOf(rule["limits"]).map(membersOf).map((one) => (
          <Limit limit={one} />
        ))}
      </ul>
    </li>
  );
}

export function SetDiff({ answer }: { answer: unknown }) {
  const body = membersOf(answer);
  const warnings = listOf(body["warnings"]).map(membersOf);
  const changed = listOf(body["changed"]).map(membersOf);
  const [added, removed] = [texts(body["added"]), texts(body["removed"])];
  const isSame = added.length + removed.length + changed.length + texts(body["reordered"]).length === 0;
  return (
    <div class="set-diff">
      {isSame && <p>For packets nothing changes: all rules are as they are in force.</p>}
      <ul>
        <Names title="New rules" names={added} />
        <Names title="Rules that go" names={removed} />
        <Names title="In another order" names={texts(body["reordered"])} />
        {changed.map((rule) => (
          <Changed rule={rule} />
        ))}
      </ul>
      {warnings.length > 0 && (
        <ul class="text-problems">
          {warnings.map((one) => (
            <li>
              <strong>Warning</strong> <Text of={one["message"] ?? one["text"]} most={400} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
