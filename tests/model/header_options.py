"""Options of TCP's header and of IPv4's, which are laid out alike, and which of them receivers throw a segment away for."""

TIMESTAMPS, SIGNATURES = 8, {19, 29}  # options of TCP: RFC 7323, 2385 and 5925
ALERT = 148  # the only option of IPv4 that every host takes: RFC 2113
RST = 0x04


def options_in(octets):
    """-> ({kind: contents of each}, whether all are as long as they say)"""
    found = {}
    while octets and octets[0] != 0:
        if octets[0] == 1:
            octets = octets[1:]
            continue
        if len(octets) < 2 or not 2 <= octets[1] <= len(octets):
            return found, False
        found.setdefault(octets[0], []).append(bytes(octets[2:octets[1]]))
        octets = octets[octets[1]:]
    return found, True


def may_be_dropped(flags, of_tcp, of_ip, stands_behind_others):
    """Whether some receiver drops the segment for an option, or a RST has more than padding and timestamps. `of_ip`: of IPv4;
    `stands_behind_others`: whether anything is between TCP's header and the fixed one of IP."""
    found, is_sound = options_in(of_tcp)
    doubtful = flags & RST and (not is_sound or set(found) - {TIMESTAMPS} or stands_behind_others)
    return bool(doubtful or may_be_thrown_away(of_tcp, of_ip))


def may_be_thrown_away(of_tcp, of_ip):
    """Whether some host drops a segment with these, a RST or any other."""
    found, is_sound = options_in(of_tcp)
    found_ip, is_sound_ip = options_in(of_ip)
    is_taken = is_sound_ip and not set(found_ip) - {ALERT} and all(len(body) == 2 for body in found_ip.get(ALERT, ()))
    return bool(not (is_sound and is_taken) or SIGNATURES & set(found))
