import { Text } from "../../parts/text";
import type { SimulationProblem } from "./answer";
import { ALGORITHMS, MOST_LIMITS, newLimit, parametersOf, withAlgorithm, withValue, type Limit, type Parameter } from "./limits";
import { answer, limits, setLimits } from "./playing";

const ZONES = "playground-zones";

function zoneNames(): string[] {
  return typeof Intl.supportedValuesOf === "function" ? Intl.supportedValuesOf("timeZone") : [];
}

function Value({ limit, at, parameter }: { limit: Limit; at: number; parameter: Parameter }) {
  const value = limit.values.get(parameter.name) ?? "";
  const set = (next: string): void => setLimits(limits.value.map((one, index) => (index === at ? withValue(one, parameter.name, next) : one)));
  const name = `${parameter.name}-${at + 1}`;
  return (
    <label>
      <span>{parameter.title}</span>
      {parameter.words !== undefined ? (
        <select name={name} value={value} onChange={(event) => set(event.currentTarget.value)}>
          {parameter.usual === "" && <option value="">as usual</option>}
          {parameter.words.map((word) => <option value={word}>{word}</option>)}
        </select>
      ) : (
        <input name={name} value={value} size={parameter.name === "zone" ? 16 : 8} autocomplete="off" spellcheck={false}
          list={parameter.name === "zone" ? ZONES : undefined} onInput={(event) => set(event.currentTarget.value)} />
      )}
    </label>
  );
}

export function Problems({ list }: { list: readonly SimulationProblem[] }) {
  if (list.length === 0) {
    return null;
  }
  return (
    <ul class="run-problems" role="alert">
      {list.map((one) => (
        <li class={one.severity === "error" ? "grave" : ""}>
          {one.severity === "error" ? "Error" : "Warning"}
          : <Text of={one.text} most={300} />
        </li>
      ))}
    </ul>
  );
}

function LimitFields({ limit, at }: { limit: Limit; at: number }) {
  const problems = (answer.value?.problems ?? []).filter((one) => one.of === "limits" && one.line === at + 1);
  return (
    <fieldset class="play-limit">
      <legend>Limit {at + 1}</legend>
      <label>
        <span>algorithm</span>
        <select name={`algorithm-${at + 1}`} value={limit.algorithm}
          onChange={(event) => setLimits(limits.value.map((one, index) => (index === at ? withAlgorithm(one, event.currentTarget.value) : one)))}>
          {ALGORITHMS.map((one) => <option value={one.name}>{one.title}</option>)}
        </select>
      </label>
      {parametersOf(limit).map((parameter) => <Value key={`${limit.algorithm} ${parameter.name}`} limit={limit} at={at} parameter={parameter} />)}
      {limits.value.length > 1 && (
        <button type="button" onClick={() => setLimits(limits.value.filter((_, index) => index !== at))}>
          Remove<span class="unseen"> limit {at + 1}</span>
        </button>
      )}
      <Problems list={problems} />
    </fieldset>
  );
}

export function LimitsForm() {
  const others = (answer.value?.problems ?? []).filter((one) => one.of === "limits" && (one.line === null || one.line > limits.value.length));
  return (
    <>
      {limits.value.map((limit, at) => <LimitFields key={at} limit={limit} at={at} />)}
      {limits.value.length < MOST_LIMITS && (
        <button type="button" onClick={() => setLimits([...limits.value, newLimit("sliding_window")])}>
          Add a limit
        </button>
      )}
      <Problems list={others} />
      <datalist id={ZONES}>
        {limits.value.some((limit) => limit.algorithm === "fixed_window") && zoneNames().map((name) => <option value={name} />)}
      </datalist>
    </>
  );
}
