"""Texts that functions make of others: the first segments of a path, and the part of a host name that
was registered, by the algorithm of publicsuffix.org/list."""
import functools
import re

LIST = "/usr/share/publicsuffix/public_suffix_list.dat"
LABEL = re.compile(rb"(?:\\.|[^.\\])+")  # names in DNS write a dot of a label as \.


def path_prefix(path, segments):
    """Each segment has a slash before it."""
    return b"/".join(path.split(b"/")[:segments + 1])


@functools.cache
def suffix_rules():
    """The rules as tuples of labels, from the top-level domain down."""
    rules = {}
    with open(LIST, encoding="utf-8") as file:
        for line in file:
            word = line.split()[0] if line.split() else "//"
            if not word.startswith("//"):
                labels = word.removeprefix("!").split(".")
                rules[tuple(a_label(label) for label in reversed(labels))] = word.startswith("!")
    return rules


def a_label(label):
    return label.encode() if label.isascii() else label.encode("idna")


def public_suffix_size(labels):
    """In labels, which begin with the top-level domain: an exception, else the longest rule, else one."""
    rules, longest = suffix_rules(), 1
    for size in range(1, len(labels) + 1):
        for rule in (labels[:size], (*labels[:size - 1], b"*")):
            if rules.get(rule):
                return size - 1
            if rule in rules:
                longest = size
    return longest


def registrable_domain(name):
    """Of an address or a public suffix, all of it."""
    labels = tuple(reversed(LABEL.findall(name)))
    if not labels or labels[0].isdigit() or b":" in name:
        return name
    registered = labels[:public_suffix_size(labels) + 1]
    return b".".join(reversed(registered))
