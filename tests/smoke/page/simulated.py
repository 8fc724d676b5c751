"""POST /v1/simulate: token buckets, fixed windows and sliding logs of a second, under hits, two bursts and constant loads."""
import re

SECOND = 1_000_000_000
LENGTHS = {"ms": 1_000_000, "s": SECOND, "h": 3600 * SECOND, "d": 24 * 3600 * SECOND}


def length(text):
    found = re.fullmatch(r"(\d+)(ms|s|h|d)", text)
    return found and int(found[1]) * LENGTHS[found[2]]


def arrivals(run):
    end = length(run.get("duration", "10s"))
    if run["load"] == "hits":
        return [length(hit) for hit in run["hits"]], end
    if run["load"] == "edge":
        half = length(run["apart"]) // 2
        return [length(run["edge_at"]) + side for side in (-half, half) for _ in range(int(run["size"]))], end
    count, per = re.fullmatch(r"(\d+)/(s|h)", run.get("offer", "100/s")).groups()
    step = LENGTHS[per] // int(count)
    return list(range(0, end or 10 * SECOND, step)), end or 10 * SECOND


def left(limit, admitted, at):
    if limit["algorithm"] == "token_bucket":
        tokens, last = int(limit["burst"]) * SECOND, 0
        rate = int(limit["rate"].split("/")[0])
        for one in [*admitted, at]:
            tokens, last = min(int(limit["burst"]) * SECOND, tokens + (one - last) * rate), one
            tokens -= SECOND if one is not at else 0
        return tokens // SECOND
    window = length(limit["window"])
    since = at // window * window if limit["algorithm"] == "fixed_window" else at - window + 1
    return int(limit["count"]) - sum(one >= since for one in admitted)


def simulated(limit, run):
    came, end = arrivals(run)
    admitted, fates = [], ""
    for at in came:
        fits = left(limit, admitted, at) > 0
        admitted += [at] if fits else []
        fates += "a" if fits else "r"
    window = length(limit.get("window", "1s"))
    most = max((sum(at - window < one <= at for one in admitted) for at in admitted), default=0)
    step = max(1, end // 100)
    course = [left(limit, [one for one in admitted if one < at], at) for at in range(0, end, step)]
    size = int(limit.get("burst") or limit["count"])
    words = " ".join(f"--{name} {value}" for name, value in limit.items())
    return {"algorithm": limit["algorithm"], "text": " ".join(limit.values()), "unit": "packet",
            "yaml": "{" + ", ".join(f"{name}: {value}" for name, value in limit.items()) + "}", "line": f"sluicectl simulate {words} --load {run['load']}",
            "end_ns": end, "counts": {"offered": len(came), "admitted": len(admitted), "yellow": 0, "delayed": 0, "refused": fates.count("r"),
                                      "waiting": 0, "last_admitted_ns": max(admitted, default=None), "cut": False},
            "window_ns": window, "most_in_window": most, "promised": 2 * size, "promise": f"2 * {size} packets in any window",
            "dots": {"step_ns": 1, "at_ns": came, "fates": fates, "units": [1] * len(came), "passes_ns": [None] * len(came)},
            "state": {"step_ns": step, "most": size, "left": course, "least": course}, "days": None}


def problem(line, text):
    return {"severity": "error", "of": "limits", "line": line, "column": 4, "text": text}


def read(text):
    """-> limits and problems"""
    limits, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        limit = dict(re.findall(r"(\w+): \"?([^,}\"]+)\"?", line))
        wrong = [value for name, value in limit.items() if name in ("count", "burst") and not value.isdigit()]
        if wrong:
            problems.append(problem(number, f"`{wrong[0]}` is no number"))
        limits.append(limit)
    return limits, problems


def answer(stand_in, method, path, query):
    if (method, path) != ("POST", "/v1/simulate"):
        return None
    if vars(stand_in).get("simulation"):
        return stand_in.simulation
    limits, problems = read(query["limits"])
    if problems:
        return 200, {"ok": False, "problems": problems, "runs": []}
    return 200, {"ok": True, "problems": [], "start_ns": 0, "runs": [simulated(limit, query["run"]) for limit in limits]}
