"""Requests that honest clients send, each in front of a login over one connection: none is anybody's to refuse."""
from evasions import Evasion, behind, one, stamped
from heads import CHUNKED, HOST, LOGIN, OTHER, get, post
from plan import Send, Wait, Open

MSS = 1400
COOKIE = b"Cookie: " + b"; ".join(b"name%d=%s" % (number, b"v" * 40) for number in range(60)) + b"\r\n"
BROWSER = (b"Connection: keep-alive\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0\r\n"
           b"Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\nAccept-Language: de,en-US;q=0.7\r\n"
           b"Accept-Encoding: gzip, deflate, br\r\nReferer: http://a.example/?a=%2F&b=c:d\r\nDNT: 1\r\nUpgrade-Insecure-Requests: 1\r\n"
           b"If-None-Match: \"x\"\r\nIf-Modified-Since: Sat, 01 Jan 2022 00:00:00 GMT\r\nCache-Control: max-age=0\r\n\r\n")


def request(method, target=OTHER, lines=b"", body=b"", version=b"HTTP/1.1"):
    return method + b" " + target + b" " + version + b"\r\n" + HOST + lines + b"\r\n" + body


def in_segments(text):
    return tuple(Send(text[at:at + MSS], at) for at in range(0, len(text), MSS))


def row(name, first):
    return Evasion("honest: " + name, one(*in_segments(first + LOGIN), Wait(0.1)) if len(first) > MSS else behind(first))


def chunked(*parts, ends=b"0\r\n\r\n"):
    return post(OTHER, CHUNKED, b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + ends)


def line_by_line(lost):
    """A head of 17 lines, each sent by itself. One of them the server does not get, until all has come: it comes again as it was."""
    lines = [line + b"\r\n" for line in (b"GET /login HTTP/1.1", b"Host: a.example", *(
        b"X-Field-%d: " % number + b"v" * (3 + number) for number in range(14)), b"")]
    sends = [(line, sum(map(len, lines[:number])), number != lost) for number, line in enumerate(lines)]
    return Evasion(f"honest: line by line, number {lost} lost", stamped(*sends, (*sends[lost][:2], True)))


KEPT = request(b"GET", OTHER, b"Connection: keep-alive\r\n", version=b"HTTP/1.0")
FORM = b"user=a&password=b%2Bc&next=%2Flogin"
MULTIPART = (b"--boundary\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a b.txt\"\r\nContent-Type: text/plain\r\n\r\n"
             b"GET /login HTTP/1.1\r\nHost: x\r\n\r\n\r\n--boundary--\r\n")

HONEST = (
    row("a browser's lines", request(b"GET", OTHER, BROWSER[:-2])),
    row("3 KB of cookies", request(b"GET", OTHER, COOKIE)),
    row("a query", get(OTHER + b"?a=b&c=%2F..%2F&d=/login&e=GET%20/%20HTTP/1.1")),
    row("letters of UTF-8 in per cent", get(b"/%C3%A4%20b/~user/a+b,c;d=1/$&'()*!:@")),
    row("a long target", get(b"/" + b"a" * 2000 + b"?" + b"b" * 1500)),
    row("HEAD", request(b"HEAD")),
    row("a form", request(b"POST", OTHER, b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n" % len(FORM),
                          FORM)),
    row("a form with files", request(
        b"POST", OTHER, b"Content-Type: multipart/form-data; boundary=boundary\r\nContent-Length: %d\r\n" % len(MULTIPART), MULTIPART)),
    row("an empty form", request(b"POST", OTHER, b"Content-Length: 0\r\n")),
    row("10 KB of a body", request(b"POST", OTHER, b"Content-Length: 10000\r\n", b"GET /login HTTP/1.1\r\n\r\n" + b"x" * 9977)),
    row("chunks", chunked(b"abc", b"x" * 500, b"GET /login HTTP/1.1\r\n\r\n")),
    row("chunks with extensions and trailers", post(OTHER, CHUNKED + b"Trailer: X-Sum\r\n",
                                                     b"3;name=value\r\nabc\r\n00A\r\n0123456789\r\n0;last\r\nX-Sum: 1\r\n\r\n")),
    row("chunk sizes in great letters", post(OTHER, CHUNKED, b"A\r\n0123456789\r\n0\r\n\r\n")),
    row("Expect: 100-continue", request(b"POST", OTHER, b"Expect: 100-continue\r\nContent-Length: 3\r\n", b"abc")),
    row("OPTIONS of a page", request(b"OPTIONS", OTHER, b"Origin: http://b.example\r\nAccess-Control-Request-Method: POST\r\n")),
    row("PUT", request(b"PUT", OTHER, b"Content-Length: 3\r\n", b"abc")),
    row("DELETE", request(b"DELETE")),
    row("PROPFIND", request(b"PROPFIND", OTHER, b"Depth: 1\r\nContent-Length: 0\r\n")),
    row("a target in absolute form", get(b"http://a.example/index")),
    row("a host with a port", get(OTHER, lines=b"Host: a.example:80\r\n")),
    row("an address for a host", get(OTHER, lines=b"Host: 10.78.0.11\r\n")),
    row("values with tabs and without blanks", get(OTHER, lines=b"Host:a.example\r\nX-A:\tb \t\r\nX-Empty:\r\nX-Bytes: \xe4\xf6\r\n")),
    row("Connection of several words", get(OTHER, lines=HOST + b"Connection: keep-alive, TE\r\nTE: trailers\r\n")),
    row("a range", get(OTHER, lines=HOST + b"Range: bytes=0-4,10-\r\n")),
    row("an Authorization", get(OTHER, lines=HOST + b"Authorization: Basic YTpiOmM=\r\n")),
    row("60 lines", get(OTHER, lines=HOST + b"".join(b"X-Line-%d: %d\r\n" % (number, number) for number in range(60)))),
    row("a head in two packets", get(OTHER, lines=HOST + b"X-Long: " + b"l" * 2000 + b"\r\n")),
    row("an empty line behind a body", request(b"POST", OTHER, b"Content-Length: 3\r\n", b"abc\r\n")),
    Evasion("honest: HTTP/1.0", one(Send(b"GET /login HTTP/1.0\r\n\r\n"))),
    Evasion("honest: HTTP/1.0, kept alive", (Open(), Send(KEPT), Wait(), Send(LOGIN, len(KEPT)), Wait())),
    Evasion("honest: Connection: close", one(Send(get(lines=HOST + b"Connection: close\r\n")))),
    Evasion("honest: 8 one behind the other", one(Send(8 * LOGIN), Wait(0.2))),
    Evasion("honest: 8 each in two segments", one(Send(8 * LOGIN), Send(8 * LOGIN, 8 * len(LOGIN)), Wait(0.2))),
    Evasion("honest: 16 one behind the other", one(Send(16 * LOGIN), Wait(0.2))),
    Evasion("honest: 32 one behind the other, then one", (Open(), Send(32 * LOGIN), Wait(0.2), Send(LOGIN, 32 * len(LOGIN)),
                                                         Wait())),
    *(line_by_line(lost) for lost in (0, 1, 5, 12, 16)),
    Evasion("honest: a POST whose body waits", (Open(), Send(post(lines=b"Content-Length: 3\r\n")), Wait(0.3, "time"), Send(
        b"abc", len(post(lines=b"Content-Length: 3\r\n"))), Wait())),
)
