"""The pages of control/man: their blocks, each marked by a comment before it, and what they name.

A block is marked by `; KIND [NAME]` on the line before it:

    rules NAME   a whole rule file, without a warning
    part         keys of a rule, which wants nothing but an id and what every rule needs
    top          keys of a rule file beside `version` and `rules`
    box NAME     a whole sluice.yaml
    file NAME    another file that lies beside them
    shell        commands after `$ `, and what they print
    live         the same, with sluiced and a dataplane
    text         a picture, a grammar: nothing to run
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAN = ROOT / "control" / "man"
KINDS = {"rules": True, "part": False, "top": False, "box": True, "file": True, "shell": False, "live": False,
         "text": False}  # whether it has a name


class Block:
    def __init__(self, page, line, mark, text):
        self.page, self.line, self.text = page, line, text
        self.kind, _, self.name = mark.partition(" ")
        self.lead = ""  # where a reader finds the name of a file: what stands just before, and its first line

    def __str__(self):
        return f"{self.page}:{self.line}"

    def examples(self):
        """[(command, what it prints)] of a shell block."""
        found = []
        for line in self.text.splitlines():
            if found and found[-1][0].endswith("\\"):
                found[-1] = (f"{found[-1][0]}\n{line}", [])
            elif line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
        return [(command, "".join(f"{line}\n" for line in lines).rstrip("\n")) for command, lines in found]


class Page:
    def __init__(self, path):
        self.name = path.name.removesuffix(".scd")
        self.text = path.read_text(encoding="utf-8")
        self.blocks = list(blocks_of(self.name, self.text.splitlines()))

    def section(self, title):
        """The text below a heading, up to the next one of its level."""
        level, _, _ = title.partition(" ")
        rest = self.text.split(f"\n{title}\n", 1)[1]
        return re.split(rf"^#{{1,{len(level)}}} ", rest, maxsplit=1, flags=re.M)[0]


def not_in_bold(names, text):
    """Those of the names that stand nowhere between asterisks."""
    bold = "\n".join(re.findall(r"(?<!\\)\*([^*\n]+?)(?<!\\)\*", text))
    return [name for name in names if not re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", bold)]


def blocks_of(page, lines):
    begin = None
    for number, line in enumerate(lines):
        if line != "```":
            continue
        if begin is None:
            begin = number
            continue
        mark = lines[begin - 1]
        text = re.sub(r"\\(.)", r"\1", "\n".join(lines[begin + 1:number]) + "\n")
        block = Block(page, begin + 1, mark[2:] if mark.startswith("; ") else "", text)
        block.lead = "\n".join([*lines[max(0, begin - 5):begin - 1], text.split("\n")[0]])
        yield block
        begin = None


def escaped(text):
    """As scdoc has it in a block."""
    return text.replace("\\", "\\\\")


def pages():
    return {page.name: page for page in map(Page, sorted(MAN.glob("*.scd")))}


# What is another one each time: generations, instants, processes, versions.
OTHER_EACH_TIME = [r"\b[0-9a-f]{16}\b", r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", r'(?<="pid":)\d+']


def prints_as(expected, found):
    """Whether `found` is what a manual prints, in which `...` stands for any lines, or for anything in its line.
    How wide the columns of a table are is left to the program."""
    def pattern(line):
        for other in OTHER_EACH_TIME:
            line = re.sub(other, "...", line)
        words = [re.escape(word).replace(r"\.\.\.", ".*") for word in line.split()]
        return r"[ \t]*" + r"[ \t]+".join(words) + r"[ \t]*"
    lines = ["(?s:.*)" if line == "..." else pattern(line) for line in expected.splitlines()]
    return re.fullmatch("\n".join(lines), found.rstrip("\n")) is not None


def whole_rule(part):
    """A rule file with these keys of a rule, and the ones that every rule needs."""
    lines = part.splitlines()
    given = {line.split(":")[0] for line in lines if not line.startswith((" ", "#"))}
    if "on_match" not in given and "tiers" not in given:
        lines += ["key: [ip.src]"] * ("key" not in given)
        lines += ["limits: [{algorithm: token_bucket, rate: 1/s, burst: 2000B}]" if "per: byte" in part else
                  "limits: [{algorithm: token_bucket, rate: 1/s, burst: 20}]"] * ("limits" not in given)
    return "version: 1\nrules:\n  - id: part\n" + "".join(f"    {line}\n" for line in lines)


def whole_file(top):
    return f"version: 1\n{top}rules: []\n"


# --- what the sources have, each from the one table that the programs read ---------------------------

def source(path):
    return (ROOT / path).read_text(encoding="utf-8")


def arrays(text, of):
    """The bodies of `std::to_array<OF>({...})`."""
    return re.findall(rf"to_array<{of}>\(\s*\{{(.*?)\}}\);\n", text, flags=re.S)


def fields():
    """Every field, and what takes a name in brackets."""
    rows = (re.findall(r'\{Field::\w+, "([^"]+)"', source("lib/packet/field.hpp")) +
            re.findall(r'\{TextField::\w+, "([^"]+)"', source("lib/packet/text_field.hpp")) +
            re.findall(r'\{TextName::Kind::\w+, "([^"]+)"\}', source("lib/packet/text_name.hpp")))
    return sorted({row for row in rows if " " not in row})


def functions():
    of_texts = re.findall(r'\{TextName::Kind::\w+,\s*"(\w+)",\s*\{', source("lib/packet/text_name.hpp"))
    return [*of_texts, "prefix", "lower"]


def keys_in(table):
    """The keys of a file that are built: rows of KeyRow in lib/policy/file_keys, without `false`."""
    bodies = arrays(source(f"lib/policy/file_keys/{table}.hpp"), "KeyRow")
    return sorted(set(re.findall(r'\{"(\w+)"\}', "".join(bodies))))


def keys_of(schema):
    """The keys of a file that are built, by its schema."""
    keys = {name for name, value in schema.get("properties", {}).items() if value.get("description") != "not enforced yet"}
    inner = [*schema.get("properties", {}).values(), *[schema["items"] for _ in range("items" in schema)]]
    return sorted(keys.union(*map(keys_of, inner)))


def algorithms():
    """{name: its parameters}, and the words that some of them take, by lib/policy/limits/limit_algorithms.cpp."""
    text = source("lib/policy/limits/limit_algorithms.cpp")
    constants = (chunk.split(";\n", 1)[0] for chunk in text.split("\nconstexpr ")[1:])
    named = {re.match(r"\w+ (k\w+)", constant)[1]: constant for constant in constants}
    parameters = {array: re.findall(r'\{\s*(?:\.name = )?"(\w+)"', re.sub(r"\bkColor\b", named["kColor"], body))
                  for array, body in named.items()}
    rows = re.findall(r'\{"(\w+)", (k\w+),', arrays(text, "LimitAlgorithm")[0])
    words = set(re.findall(r'"(\w+)"', "".join(arrays(text, "std::string_view"))))
    return {name: parameters[array] for name, array in rows}, sorted(words)


def actions():
    """{name: what may stand beside it}, and the names of code points."""
    text = source("lib/policy/rules/action_reader.cpp")
    tables = re.findall(r"constexpr auto (k\w+Action)\s*=\s*std::to_array<KeyRow>\((.*?)\);",
                        source("lib/policy/file_keys/rule_keys.hpp"), flags=re.S)
    keys = {array: re.findall(r'\{"(\w+)"\}', body) for array, body in tables}
    rows = re.findall(r'\{"(\w+)", rule_keys::(k\w+Action)', text)
    return {name: keys[array] for name, array in rows}, re.findall(r'\{"(\w+)", \d+\}', text)


def reasons():
    return re.findall(r'\{Reason::\w+, "(\w+)"', source("lib/packet/verdict.hpp"))


def service_reasons():
    """Those for which what follows and reads connections refuses a packet before any rule."""
    names = dict(re.findall(r'\{Reason::(\w+), "(\w+)"', source("lib/packet/verdict.hpp")))
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "lib/l7").rglob("*.cpp")))
    return sorted({names[word] for word in re.findall(r"(?<![A-Za-z])Reason::(\w+)", text) if word in names})


def event_rows(path, array):
    """[(name, help)] of a table of events or gauges; texts of several lines are one."""
    body = source(path).split(f"{array} =", 1)[1].split("});", 1)[0]
    rows = re.findall(r'\{[\w:&]+,\s*"(\w+)",\s*((?:"[^"]*"\s*)+)', body)
    return [(name, "".join(re.findall(r'"([^"]*)"', text))) for name, text in rows]


def stat_rows(path, struct):
    """[(name, help)] of the numbers of a struct of the wire that have a metric."""
    row = rf'StatRow{{&{struct}::\w+,\s*{{"(\w+)"}},\s*{{"sluice_\w+",\s*((?:"[^"]*"\s*)+)}}'
    return [(name, "".join(re.findall(r'"([^"]*)"', text))) for name, text in re.findall(row, source(path))]


def words_of(path, array):
    return re.findall(r'"(\w+)"', source(path).split(f"{array} =", 1)[1].split(");", 1)[0])


def metrics():
    """The name of every metric that sluiced has."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "control/daemon/api").glob("*.cpp")))
    for room in ("lib/wire", "lib/rules", "lib/watch/heatmap", "control/daemon/live"):
        text += "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / room).glob("*.hpp")))
    names = set(re.findall(r'"(sluice_[a-z_]*[a-z])"', text))
    return sorted(names)


def warnings_in(path):
    """The texts of a source's warnings, each without what is put into them."""
    calls = re.findall(r"log_warn\((.*?)\);\n", source(path), flags=re.S)
    return ["".join(re.findall(r'"([^"]*)"', call)) for call in calls]


def dataplane_options():
    text = source("dataplane/config/command_line.cpp")
    config = re.search(r'kConfig = "([\w-]+)"', text)[1]
    others = re.findall(r'\{"([\w-]+)", "[A-Z]*",', arrays(text, "Option")[0])
    return [f"--{name}" for name in [config, *others]]
