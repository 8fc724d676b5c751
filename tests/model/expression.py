"""Conditions: a tokenizer made of one regular expression, and a shunting-yard into postfix.

A comparison is one operand: the tokenizer hands it over whole, and what is left to sort are
`not`, `and`, `or` and parentheses. A condition is a list of postfix steps over a dict of fields.
"""
import functools
import ipaddress
import operator
import re

from derived import path_prefix, registrable_domain
from texts import WORDS, pattern_of, unquoted

FIELD = r"(?:dir|port|eth|vlan|ip|outer|client|l4|tcp|icmp|payload|dns|proto|http|tls|quic)(?:\.[a-z_0-9]+)*"
OPERATOR = r"==|!=|<=|>=|<|>|\b(?:eq|ne|le|ge|lt|gt)\b"
QUOTED = r'"(?:\\.|[^"\\])*"'
VALUE = rf"{QUOTED}|[0-9A-Za-z:.]+(?:/\d+)?"
TEXT = rf"(?:lower\s*\(\s*{WORDS}\s*\)|{WORDS})(?![.\w])"
OPERAND = rf"(?:{TEXT}|prefix\s*\(\s*{FIELD}\s*,\s*\d+\s*(?:\|\s*\d+\s*)?\)|{FIELD})"
TOKEN = re.compile(rf"""\s*(?:
    (?P<word>\b(?:and|or|not)\b | [()])
  | (?P<end>starts|ends)_with \s* \( \s* (?P<whole>{TEXT}) \s* , \s* (?P<part>{QUOTED}|\$[\w-]+) \s* \)
  | (?P<text>{TEXT}) \s+ (?P<how>contains|matches) \s* (?P<sought>{QUOTED}|\$[\w-]+)
  | (?P<member>{OPERAND}) \s+ in \s* (?: \$(?P<list>[\w-]+) | \{{ (?P<set>(?:{QUOTED}|[^}}"])*) \}} )
  | (?P<left>{OPERAND}) \s* (?P<operator>{OPERATOR}) \s* (?P<right>{VALUE})
  | (?P<flag>{OPERAND})
)\s*""", re.VERBOSE)
LOWER = re.compile(rf"lower\s*\(\s*({WORDS})\s*\)$")
# In small letters, and compared whatever the case.
CASELESS = re.compile(r"dns\.qname$|http\.host$|tls\.sni$|quic\.sni$|registrable_domain\b")
PATH = re.compile(rf"path_prefix\s*\(\s*({FIELD})\s*,\s*(\d+)\s*\)$")
DOMAIN = re.compile(rf"registrable_domain\s*\(\s*({FIELD})\s*\)$")
PREFIX = re.compile(rf"prefix\s*\(\s*({FIELD})\s*,\s*(\d+)\s*(?:\|\s*(\d+)\s*)?\)$")

# QTYPEs by name (RFC 1035, 3.2.2 and 3.2.3, RFC 3596, RFC 9460): numbers are written so too.
QTYPES = {"a": 1, "ns": 2, "mx": 15, "txt": 16, "aaaa": 28, "https": 65, "any": 255}
SYNONYMS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
ORDERINGS = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}
STRENGTH = {"or": 1, "and": 2, "not": 3}


class BadExpression(Exception):
    pass


class Folded(bytes):
    """A text in lower case, which equals others whatever their case."""


def compile_condition(text, lists=None):
    """-> a function of a dict of fields; `lists`: name -> values as they would stand in a set."""
    postfix = _postfix(text, lists or {})

    def condition(fields):
        stack = []
        for step in postfix:
            if step == "not":
                stack.append(not stack.pop())
            elif step in ("and", "or"):
                right, left = stack.pop(), stack.pop()
                stack.append((left and right) if step == "and" else (left or right))
            else:
                stack.append(step(fields))
        return stack[0]

    return condition


def _postfix(text, lists):
    out, waiting, at = [], [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match or match.end() == at:
            raise BadExpression(f"not understood: {text[at:]!r}")
        at = match.end()
        word = match["word"]
        if word is None:
            out.append(_test(match, lists))
        elif word in ("(", "not"):
            waiting.append(word)
        elif word == ")":
            while waiting[-1] != "(":
                out.append(waiting.pop())
            waiting.pop()
        else:
            while waiting and STRENGTH.get(waiting[-1], 0) >= STRENGTH[word]:
                out.append(waiting.pop())
            waiting.append(word)
    return out + waiting[::-1]


def _test(match, lists):
    if match["end"]:
        return _any_text_test(match["whole"], match["end"], match["part"], lists)
    if match["text"]:
        return _any_text_test(match["text"], match["how"], match["sought"], lists)
    if match["member"]:
        name = match["member"]
        values = lists[match["list"]] if match["list"] else re.findall(VALUE, match["set"])
        return lambda fields: any(_equal(value_of(name, fields), value) for value in values)
    if match["left"]:
        name, value = match["left"], match["right"]
        kind = SYNONYMS.get(match["operator"], match["operator"])
        return lambda fields: _compare(value_of(name, fields), kind, value)
    name = match["flag"]
    return lambda fields: bool(value_of(name, fields))


def _any_text_test(operand, how, sought, lists):
    """Of a text, or of any text of a list."""
    if not sought.startswith("$"):
        return _text_test(operand, how, sought)
    tests = [_text_test(operand, how, text) for text in lists[sought[1:]]]
    return lambda fields: any(test(fields) for test in tests)


def _text_test(operand, how, quoted):
    """Of a text: `starts`, `ends`, `contains`, `matches`."""
    folded = bool(LOWER.match(operand) or CASELESS.match(operand))
    if how == "matches":
        holds = pattern_of(quoted, folded).search
    else:
        part = unquoted(quoted)
        part = part.lower() if folded else part
        holds = {"starts": lambda text: text.startswith(part),
                 "ends": lambda text: text.endswith(part),
                 "contains": lambda text: part in text}[how]

    def test(fields):
        text = value_of(operand, fields)
        return text is not None and bool(holds(text))

    return test


def value_of(operand, fields):
    """The value of a field, or of a function over one, or None where it is absent."""
    return _reader_of(operand)(fields)


@functools.cache
def _reader_of(operand):
    lower = LOWER.match(operand)
    if lower or CASELESS.match(operand):
        read = _text_reader(lower[1] if lower else operand)
        return lambda fields: None if read(fields) is None else Folded(read(fields).lower())
    if PATH.match(operand):
        return _text_reader(operand)
    call = PREFIX.match(operand)
    if not call:
        name = in_one_spelling(operand)
        return lambda fields: fields.get(name)
    lengths = {4: int(call[2]), 6: int(call[3] or call[2])}
    return lambda fields: None if call[1] not in fields else _cut(fields[call[1]], lengths)


def _text_reader(operand):
    """Of a field, or of what a function makes of one."""
    path, domain = PATH.match(operand), DOMAIN.match(operand)
    name = path[1] if path else domain[1] if domain else in_one_spelling(operand)
    made = (lambda text: path_prefix(text, int(path[2])) if path else
            registrable_domain(text) if domain else text)
    return lambda fields: made(fields[name]) if name in fields else None


def in_one_spelling(operand):
    """A header is one whatever its case."""
    return operand.lower() if operand.startswith("http.request.headers") else operand


@functools.lru_cache(1000)
def _cut_whole(address, bits):
    return ipaddress.ip_network((address, bits), strict=False)


def _cut(address, lengths):
    bits = min(lengths[address.version], address.max_prefixlen)
    if isinstance(address, (ipaddress.IPv4Network, ipaddress.IPv6Network)):  # client.ip
        bits, address = min(bits, address.prefixlen), address.network_address
    return address if bits == address.max_prefixlen else _cut_whole(address, bits)


def _compare(value, kind, text):
    if value is None:
        return False
    if kind == "eq":
        return _equal(value, text)
    if kind == "ne":
        return not _equal(value, text)
    text = text.strip('"')
    return ORDERINGS[kind](value, number_of(text))


def number_of(text):
    return QTYPES[text.lower()] if text.lower() in QTYPES else int(text, 0)


def _equal(value, text):
    if value is None:
        return False
    if isinstance(value, bytes):
        wanted = unquoted(text)
        return value == (wanted.lower() if isinstance(value, Folded) else wanted)
    text = text.strip('"')
    if isinstance(value, int):
        first, _, last = text.partition("..")
        return number_of(first) <= value <= number_of(last or first)
    if isinstance(value, str):
        return value == text.lower() if ":" in text else value == text
    wanted = ipaddress.ip_network(text)
    if value.version != wanted.version:
        return False
    if isinstance(value, (ipaddress.IPv4Network, ipaddress.IPv6Network)):
        value = value.network_address  # prefix() is the address with the other bits zero
    return value in wanted
