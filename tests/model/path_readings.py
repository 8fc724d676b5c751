"""The paths that servers make of one: manual, http.request.uri.path and `on_ambiguous`, and the table of targets in
lib/l7/http1/DESIGN.md.

nginx and Python take all that is encoded for itself, lighttpd slashes alone, Apache all but slashes; HAProxy and Node resolve
no dots, and leave the path as it was sent.
"""
import re

UNRESERVED = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
ENDS = b"?#%"  # of a path; and what begins an escape
ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
LONE_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")
SLASH = b"/"


def normal_path(path):
    """RFC 3986, 6.2.2; runs of slashes are one. A % that begins no escape stands for itself."""
    if not path.startswith(SLASH):
        return path
    path = LONE_PERCENT.sub(b"%25", path)
    path = re.sub(rb"[\x80-\xff]", lambda one: b"%%%02X" % one[0][0], path)
    return without_dots(ESCAPE.sub(lambda escape: unescaped(escape, UNRESERVED), path))


def unescaped(escape, some):
    """The octet itself if it is one of some."""
    octet = bytes([int(escape[1], 16)])
    return octet if octet in some else b"%" + escape[1].upper()


def without_dots(path):
    segments, kept = path[1:].split(SLASH), []
    for segment in segments:
        if segment == b"..":
            kept = kept[:-1]
        elif segment not in (b"", b"."):
            kept.append(segment)
    is_folder = segments[-1] in (b"", b".", b"..")
    return SLASH + SLASH.join(kept) + (SLASH if is_folder and kept else b"")


def octets_of(path):
    return b"".join(bytes([int(digits, 16)]) for digits in ESCAPE.findall(path))


def has_dots(path):
    segments = ESCAPE.sub(lambda escape: unescaped(escape, UNRESERVED), path).split(SLASH)
    return b"." in segments or b".." in segments


def may_part(path):
    """Whether servers that decode see other segments, so that under `refuse` none shall have it."""
    return path.startswith(SLASH) and SLASH in octets_of(path)


def has_nul(path):
    """Whether servers that are written in C end the path at %00, so that none shall have it."""
    return path.startswith(SLASH) and b"\0" in octets_of(path)


def has_lone_percent(path):
    return path.startswith(SLASH) and LONE_PERCENT.search(path) is not None


def other_paths(path):
    """All but the normal form, each once."""
    if not path.startswith(SLASH):
        return []
    some = paths_of(path) + (paths_of(url_path(path)) if has_dots(path) else [])
    return list(dict.fromkeys(some))[1:]


def url_path(path):
    """What `new URL()` of Node makes of it: dots are resolved, all else stays as it was sent."""
    kept = []
    segments = path[1:].split(SLASH)
    for number, segment in enumerate(segments):
        dots = re.sub(rb"(?i)%2e", b".", segment)
        kept = kept[:-1] if dots == b".." else kept if dots == b"." else kept + [segment]
        if dots in (b".", b"..") and number + 1 == len(segments):
            kept = kept + [b""]
    return SLASH + SLASH.join(kept)


def paths_of(path):
    visible = bytes(octet for octet in range(0x21, 0x7F) if octet not in SLASH + ENDS)
    some = [normal_path(path)]
    for decoded in (SLASH, visible, SLASH + visible):
        some.append(normal_path(decoded_path(path, decoded)))
    if has_dots(path) or has_lone_percent(path):
        some.append(path)
    return some


def decoded_path(path, some):
    """What is decoded once is not decoded again: what stays encoded stays so."""
    return ESCAPE.sub(lambda escape: unescaped(escape, some), path)
