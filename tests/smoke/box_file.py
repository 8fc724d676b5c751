"""The sluice.yaml of a test's box: what all of them start by, with a test's own changes merged in."""
import json
import re


def merged(base, change):
    """Maps key by key, lists item by item; anything else is the change's."""
    if isinstance(base, dict) and isinstance(change, dict):
        return {key: merged(base.get(key), change.get(key)) for key in {**base, **change}}
    if isinstance(base, list) and isinstance(change, list):
        return [merged(base[i] if i < len(base) else None, change[i] if i < len(change) else None)
                for i in range(max(len(base), len(change)))]
    return base if change is None else change


def pair(outside, inside, /, name="lab", **more):
    return merged({"name": name, "outside": {"device": outside}, "inside": {"device": inside}}, more)


def yaml(value):
    """In flow style; a text stands bare where it can, as durations and sizes must."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(yaml, value)) + "]"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if re.fullmatch(r"\d+|[a-z_]+|\d+(?:%|[a-zA-Z]+)", text) else json.dumps(text)


def write_box_file(path, config):
    path.write_text("".join(f"{key}: {yaml(value)}\n" for key, value in config.items()))
