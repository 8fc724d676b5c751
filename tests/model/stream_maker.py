"""Requests as TCP may bring them: several in one segment, cut anywhere, again, before their turn, with other bytes."""
import itertools

from connections import ANSWER, PUSH, SYN, segment
from request_maker import RequestMaker, RequestRules

CHUNKS = [b"5\r\nabcde\r\n", b"16;x=y\r\nGET /in/a HTTP/1.1\r\n\r\n\r\n", b"1\r\n\r\r\n", b"0003\r\n0\r\n\r\n"]


class StreamMaker(RequestMaker):
    """`most`: requests of a connection. A connection remembers three changes of its verdicts, and more than that
    where nothing is refused."""

    def __init__(self, dice, most):
        super().__init__(dice)
        self.most = most

    def connection(self):
        requests = [head + body for head, body in
                    (self.request() for _ in range(self.dice.randint(1, self.most)))]
        ends = list(itertools.accumulate(len(request) for request in requests))
        return self.sent(self.ends(), self.pieces(b"".join(requests)), ends)

    def request(self):
        head, body = super().request()
        if self.chance(15) and not head.startswith(b"POST"):
            head = head[:-2] + b"Transfer-Encoding: chunked\r\n\r\n"
            body = b"".join(self.dice.choice(CHUNKS) for _ in range(self.dice.choice((0, 1, 3)))) + b"0\r\n\r\n"
        return head, body

    def pieces(self, octets):
        cuts = [0, *sorted(self.dice.sample(range(1, len(octets)), self.dice.choice((0, 1, 2, 3, 5)))), len(octets)]
        return [(begin, octets[begin:end]) for begin, end in zip(cuts, cuts[1:])]

    def sent(self, ends, pieces, requests):
        """`requests`: where each of them ends."""
        first, with_syn = self.dice.choice((1, 77, 0xFFFFFFF0, 0x7FFFFFFF)), self.chance(70)
        frames = [segment(ends, first - 1, SYN, b"")] if with_syn else []
        has_chunks = b"chunked\r\n" in b"".join(octets for _, octets in pieces)
        for piece in self.in_some_order(pieces, requests, with_syn):
            frames += [ANSWER] * has_chunks
            frames.append(piece and segment(ends, first + piece[0], PUSH, piece[1]))
        return frames

    def in_some_order(self, pieces, requests, may_begin_late):
        sent, turn = [], list(pieces)
        if len(turn) > 1 + (not may_begin_late) and self.chance(25):
            one = self.dice.randrange(not may_begin_late, len(turn) - 1)
            turn[one], turn[one + 1] = turn[one + 1], turn[one]
        for number, piece in enumerate(turn):
            whole = [one for one in turn[:number] if is_whole(one, sorted(turn[:number]), requests)]
            if whole and self.chance(15) and self.ends_at(whole[-1]) == piece[0]:
                piece = self.joined([whole[-1], piece])
            sent.append(piece)
            whole = [one for one in turn[:number + 1] if is_whole(one, sorted(turn[:number + 1]), requests)]
            if whole and self.chance(30):
                sent += self.again(sorted(whole))
        return sent

    def again(self, some):
        """What has come before: a piece, whole ones behind one another, or later one with another byte in it."""
        begin = self.dice.randrange(len(some))
        run = [some[begin]]
        while begin + len(run) < len(some) and self.ends_at(run[-1]) == some[begin + len(run)][0]:
            run.append(some[begin + len(run)])
        at, octets = self.joined(run[:self.dice.choice((1, 1, 2, 3))])
        if self.chance(15):
            place = self.dice.randrange(len(octets))
            return [ANSWER, (at, octets[:place] + b"~" + octets[place + 1:])]
        return [(at, octets)]

    @staticmethod
    def ends_at(piece):
        return piece[0] + len(piece[1])

    @staticmethod
    def joined(run):
        return run[0][0], b"".join(octets for _, octets in run)


def is_whole(piece, sent, requests):
    """Whether the request that its last byte belongs to has come as a whole."""
    end = next(end for end in requests if end >= piece[0] + len(piece[1]))
    reached = 0
    for at, octets in sent:
        reached = max(reached, at + len(octets)) if at <= reached else reached
    return reached >= end


class StreamRules(RequestRules):
    """All of them read requests: what others keep back may be judged again."""

    def rule(self, number):
        lines = super().rule(number)
        if not any(line.startswith("    when:") for line in lines):
            lines.insert(2, f"    when: '{self.condition()}'")
        return lines

    def file(self):
        """The first rule acts unless none does: what is dropped for its bytes is dropped whatever other rules say."""
        text = super().file()
        return text if self.acts is False else text.replace("{id: all, mode: monitor,", "{id: all, mode: enforce,")
