import { ageMs, isStale, poll, zone } from "../page";
import { Text } from "../parts/text";
import { instantText, spanText } from "../text/time";
import { NO_ANSWER } from "../transport/send";
import { tenant } from "./tenant";

/** How old what stands here is; and, where that is too much, since when and why. */
export function Age() {
  const shown = poll.shown.value;
  const age = ageMs.value;
  const trouble = poll.trouble.value;
  if (shown === null || age === null) {
    return (
      <p class="age" role="status">
        {trouble === null ? "No snapshot yet." : <>No snapshot yet: <Text of={trouble} most={300} />.</>}
      </p>
    );
  }
  const at = instantText(shown.answer.at, zone.value, Date.now());
  if (!isStale.value) {
    return <p class="age">{at}</p>;
  }
  return (
    <p class="age old">
      <span class="unseen" role="alert">
        Old: no answer since {at}.
      </span>
      <strong>Old.</strong> Last answer {at}, {spanText(age / 1000)} ago.{" "}
      {trouble === null ? "No newer snapshot has come." : <Text of={`${trouble}.`} most={300} />}
    </p>
  );
}

/** A word about another sluiced or another page, as long as it matters. */
export function Notices() {
  if (poll.outdated.value) {
    return (
      <p class="notice" role="alert">
        sluiced has another version of this page now: it reloads.
      </p>
    );
  }
  if (isStale.value && poll.shown.value !== null && poll.trouble.value === NO_ANSWER) {
    return (
      <p class="notice" role="status">
        Traffic goes on, and the limits in force with it, as long as sluice-dataplane runs: it wants no sluiced. This page goes on by itself once sluiced answers again.
        {tenant.value === null && <> On the box: <code>systemctl status sluiced</code>, <code>journalctl -u sluiced</code>; the way to it (a tunnel, a proxy) may be cut as well.</>}
      </p>
    );
  }
  if (poll.restarts.value > 0) {
    return (
      <p class="notice" role="status">
        sluiced was started anew while this page was open; plots begin with it.{" "}
        <button type="button" onClick={() => (poll.restarts.value = 0)}>
          Close
        </button>
      </p>
    );
  }
  return null;
}
