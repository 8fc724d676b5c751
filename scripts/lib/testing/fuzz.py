#!/usr/bin/env python3
"""fuzz.py BUILD RESULTS CORPUS_ROOT SECONDS: each libFuzzer program of BUILD over its corpus.

New inputs go to a folder under BUILD; what breaks a target stays there too and is named.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import outcome as outcomes  # noqa: E402
import program  # noqa: E402

MEMORY_MB = 2048
ONE_INPUT_SECONDS = 10
KEPT_STATE = {"kept", "key_journal", "rules_json", "slots", "state"}  # forms that change with the program: a seed at least is taken
FOUND_EXIT = 1  # libFuzzer's own, 77, is what a test that skips itself says


def fuzz(target, corpus_root, seconds):
    name = target.name.removeprefix("fuzz_")
    found = target.parent / "found" / name
    found.mkdir(parents=True, exist_ok=True)
    seeds = corpus_root / name
    if name in KEPT_STATE:
        code, output = program.run(
            [str(target), "-runs=0", f"-error_exitcode={FOUND_EXIT}", str(seeds)], 120)
        if code == 0 and not re.search(r"^accepted_inputs: [1-9]", output, re.MULTILINE):
            code, output = FOUND_EXIT, output + f"\n{seeds}: {name} accepts no seed, which all have a former form"
        if code:
            return name, code, output
    command = [str(target), f"-max_total_time={seconds}", f"-rss_limit_mb={MEMORY_MB}",
               f"-timeout={ONE_INPUT_SECONDS}", "-print_final_stats=1",
               f"-error_exitcode={FOUND_EXIT}", f"-timeout_exitcode={FOUND_EXIT}",
               f"-artifact_prefix={found.parent}/{name}-", str(found)]
    code, output = program.run(command + ([str(seeds)] if seeds.is_dir() else []), seconds + 120)
    return name, code, output


def main():
    build, results, corpus_root, seconds = sys.argv[1:]
    targets = sorted(path for path in (pathlib.Path(build).resolve() / "tests/fuzz").glob("fuzz_*")
                     if path.is_file() and os.access(path, os.X_OK))
    total = outcomes.Outcome()
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        runs = [pool.submit(fuzz, target, pathlib.Path(corpus_root), int(seconds))
                for target in targets]
        for run in concurrent.futures.as_completed(runs):
            name, code, output = run.result()
            ran = re.search(r"number_of_executed_units:\s*(\d+)", output)
            word = "FAILED" if code else "ok"
            print(f"   fuzz {name}: {word}, {ran[1] if ran else '?'} inputs", flush=True)
            if code:
                print("\n".join("      | " + line for line in output.splitlines()[-60:]))
            total.add(outcomes.read_exit(f"fuzz {name}",
                                         FOUND_EXIT if code == outcomes.SKIPPED_EXIT else code))
    with open(results, "a") as file:
        file.write(json.dumps(vars(total)) + "\n")


if __name__ == "__main__":
    main()
