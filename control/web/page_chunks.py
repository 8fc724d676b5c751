"""Which files a browser loads for what: for the page itself, or for a part of it that is imported when it is wanted."""
import pathlib

import page_rules


def closure(outputs, name):
    """A file with all that it imports as it is loaded."""
    found, left = set(), [name]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += [row["path"] for row in outputs[one]["imports"] if row["kind"] == "import-statement" and not row.get("external")]
    return found


def loads_of(meta, sources):
    """-> {file: [page_rules.FIRST]} of the first load, {file: [source, ...]} of what is imported later than that."""
    outputs = meta["outputs"]
    entries = {row["entryPoint"]: name for name, row in outputs.items() if row.get("entryPoint") and name.endswith(".js")}
    main = next(source for source in entries if source == f"{sources}/main.tsx")
    first = closure(outputs, entries.pop(main))
    loads = {pathlib.Path(name).name: [page_rules.FIRST] for name in first}
    for source, name in sorted(entries.items()):
        for file in closure(outputs, name) - first:
            loads.setdefault(pathlib.Path(file).name, []).append(source)
    return loads
