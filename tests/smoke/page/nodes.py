"""GET /v1/cluster/nodes: three boxes, of which one runs rules of its own."""


def node(slot, **more):
    return {"slot": slot, "node": f"edge-{slot + 1}", "host": f"host-{slot + 1}", "version": "0.3.0", "generation": 4, "set": "ab" * 32, "runs": "in force",
            "verdict": None, "problem": None, "store": {"state": "ready", "rtt_us": 420, "clock_offset_us": -1500, "unsynced": 12}, **more}


LINK = {"state": "ready", "why": None, "slot": 0, "down": False, "down_s": 61.0, "rtt_us": 420, "clock_off_us": -1500, "unsynced": 12,
        "lost": 3, "gaps": 0, "skewed": 0, "expired": 1}
HEAD = {"generation": 4, "set": "ab" * 32, "by": "ada@desk", "at": "2030-01-01T00:00:00Z"}
ROLLOUT = {"generation": 5, "set": "cd" * 32, "by": "ada@desk", "at": None, "id": "r5", "staged": True, "everywhere": False, "nodes": ["edge-1"], "trial_s": 60}


def fleet(nodes, **more):
    return {"age_s": 1.5, "problem": None, "head": HEAD, "rollout": None, "drained": [], "away": [], "nodes": nodes, **more}


def cluster(**more):
    return {"name": "lab", "node": "edge-1", "size": 4, "has_store": True, "store": LINK,
            "fleet": fleet([node(0), node(1), node(2, runs="detached", problem="rules.yaml:2:1: unknown field")]), **more}


NONE = (200, {"cluster": None})


def answer(stand_in, method, path, _query):
    if method == "GET" and path == "/v1/cluster/nodes":
        shown = vars(stand_in).get("cluster_shown")
        return NONE if shown is None else (200, shown)
    return None
