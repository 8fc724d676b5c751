"""What was measured last, by id: build/bench/results.json, which `scripts/bench --keep` writes, or where `--results` says."""
import datetime
import json
import pathlib
import shutil
import subprocess

from in_process import SHARED

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
RESULTS = ROOT / "build/bench/results.json"


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


def cores():
    return len([line for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
                if line.startswith("processor")])


def pages():
    """What the tables of the benchmarks lie in: free huge pages are taken where there are any."""
    for line in pathlib.Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("HugePages_Free:") and int(line.split()[1]) > 0:
            return "2 MB pages"
    return "4 KB pages"


def commit():
    """Of this tree; with a + where it has changes that are not committed. A tree that was unpacked has none."""
    if shutil.which("git") is None:
        return "no commit"

    def git(*words):
        return subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, *words], capture_output=True, text=True,
                              check=False).stdout.strip()
    name = git("rev-parse", "--short=8", "HEAD")
    return (name + ("+" if git("status", "--porcelain", "-uno") else "")) or "no commit"


def about(quick):
    """What a run is told apart by."""
    return {"machine": f"{processor()}, {cores()} cores", "date": datetime.date.today().isoformat(), "quick": quick,
            "pages": pages(), "commit": commit()}


def load(path=RESULTS):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def keep(rows, run, path=RESULTS):
    """Puts what was measured in the place of what was measured before of the same ids."""
    results = load(path)
    for name in dict.fromkeys(row["id"] for row in rows):
        new = [{key: value for key, value in row.items() if key != "id"} for row in rows if row["id"] == name]
        if name in SHARED:  # these come with several ids
            cases = [row["case"] for row in new]
            new = [row for row in results.get(name, {"rows": []})["rows"] if row["case"] not in cases] + new
        results[name] = {**run, "rows": new}
    text = json.dumps(dict(sorted(results.items())), indent=1, ensure_ascii=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def in_order(name):
    """Of ids: T2 before T10, and letters first."""
    letters = name.rstrip("0123456789")
    return letters, int(name[len(letters):] or 0)
