#pragma once
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

// Heads put together from parts of good and of evil ones, and now and then a byte changed.
class RandomHead {
public:
    explicit RandomHead(std::uint64_t seed) : random_{seed} {}

    std::string make() {
        std::string head = one({"", "", "", "", "", "", "\r\n", "\n", "\r\n\r\n", "\r", "\n\r", " ",
                                "\v\f", "\r \x1c"});
        head +=
            one({"GET", "GET", "POST", "CONNECT", "OPTIONS", "PURGE", "M-SEARCH", "get", "PRI", "",
                 "G@T", "G\xC3\xA9T", std::string("G\0T", 3), "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG"});
        head += blank() + target() + blank();
        head += one({"HTTP/1.1", "HTTP/1.1",  "HTTP/1.1",   "HTTP/1.1",
                     "HTTP/1.0", "HTTP/1.2",  "HTTP/2.0",   "http/1.1",
                     "HTTP/0.9", "HTTP/-1.1", "HTTP/1.1_0", "HTTP/01.1",
                     "RTSP/1.0", "ICE/1.0",   "HTTP/1.1.1", "HTTP/1._1",
                     "",         "HTTP/1.10", "HTTP/",      "HTP/1.1",
                     ""});
        head += one({"", "", "", "", "", " ", "\t"}) + line_end();
        for (std::size_t lines = below(9); lines > 0; --lines) {
            head += header_line() + line_end();
        }
        head += line_end();
        while (below(6) == 0 && !head.empty()) {
            mutate(head);
        }
        return head;
    }
    std::string target() {
        std::string target = one({"", "", "", "http://Host.example", "http://u@h",
                                  "HTTP://[::1]:80", "https://h:443", "foo", "x-y+z.1://h", "*",
                                  "h:443", "//u@h:80", "//h:x", "/\\%68"});
        for (std::size_t parts = below(7); parts > 0; --parts) {
            target += one({"%3B",  "%5c", "/",   "/",    "//",           "/a",        "/b.c",
                           "/.",   "/..", "/./", "/../", "/%2e",         "/%2E%2e",   "%2f",
                           "%7Eu", "%zz", "%",   "%4",   "%41",          "%00",       "\xC3\xA9",
                           "?q=1", "?",   "#f",  ";x=y", "/.well-known", "%25%34%31", "%%34%31",
                           "A",    "~",   "="});
        }
        return target;
    }
    std::size_t below(std::size_t end) { return random_() % end; }

private:
    std::string one(const std::vector<std::string>& of) { return of[below(of.size())]; }
    std::string blank() {
        return below(20) == 0
                   ? one({"", "  ", "\t", " \t ", "\v", "\r", "\f ", "\x1f", "\xA0", " \x85"})
                   : " ";
    }
    std::string line_end() { return below(25) == 0 ? one({"\n", "\r", "\r\r\n", "\n\n"}) : "\r\n"; }
    std::string header_line() {
        std::string name = one({"Host",
                                "host",
                                "HOST",
                                "Content-Length",
                                "Content-Length",
                                "Transfer-Encoding",
                                "Connection",
                                "Upgrade",
                                "Upgrade",
                                "HTTP2-Settings",
                                "Expect",
                                "Cookie",
                                "cookie",
                                "User-Agent",
                                "User_Agent",
                                "X-Forwarded-For",
                                "X-Forwarded.For",
                                "X~Forwarded|For",
                                "X_Kind",
                                "X-Kind",
                                "x.kind",
                                "A",
                                "Accept-Language",
                                "Referer",
                                "X-Something-Quite-Long-Indeed-Of-Over-32-Bytes"});
        if (below(25) == 0) {
            name = one({"", " " + name, name + " ", name + "\t", "\t", name + "\xE9", "(" + name,
                        name + "\x01", "a b", "_"});
        }
        const std::string colon =
            below(30) == 0 ? one({"", "::", " : "}) : one({":", ": ", ":  ", ":\t"});
        std::string value = one({"",
                                 "5",
                                 "0",
                                 "5, 5",
                                 "5,6",
                                 "+5",
                                 "9223372036854775807",
                                 "9223372036854775808",
                                 "005",
                                 "chunked",
                                 "gzip, chunked",
                                 "chunked, gzip",
                                 "Chunked",
                                 "chunked;q=1",
                                 "gzip;q=1, chunked",
                                 "identity",
                                 "xchunked",
                                 "close",
                                 "keep-alive, Upgrade",
                                 "h2c",
                                 "100-Continue",
                                 "websocket",
                                 "WebSocket, websocket",
                                 "foo, websocket",
                                 "websocket, h2c",
                                 "h2c ;x",
                                 "Host.Example.",
                                 "host.example:80",
                                 "HOST.example",
                                 "a.Xn--host-.example",
                                 "[0:0:0:0:0:0:0:1]:80",
                                 "[:::1]",
                                 "[::ffff:C000:201]",
                                 "xn--a-1.b--.xn--",
                                 "[::1]",
                                 "[::1]:x",
                                 "a b",
                                 "h:99999999",
                                 "192.0.2.1:80",
                                 "0X7f.1",
                                 "192.0.2.01",
                                 "a.0x1g",
                                 "h%41.example",
                                 "1.2.3.4.5.",
                                 "h@x",
                                 ".",
                                 "sid=1; b=2; sid=3",
                                 "b=3;sid=2; sid=; b = ; sid=9; b=5",
                                 "b = 4 ;c",
                                 "Mozilla/5.0 (X11; Linux x86_64)",
                                 "\xFF\xFE",
                                 "a\tb",
                                 "a\x01",
                                 std::string("a\0b", 3),
                                 "a\rb",
                                 "1.2.3.4, 5.6.7.8"});
        if (below(25) == 0) {
            value += one({"\r\n ", "\n\t", "\r\n  \r\n "}) + value;
        }
        return name + colon + value + one({"", "", "", " ", "\t"});
    }
    void mutate(std::string& head) {
        const std::size_t at = below(head.size());
        const char byte = below(2) == 0 ? one({"\r", "\n", " ", ":", "\t", "/", ",", "%"})[0]
                                        : static_cast<char>(random_());
        switch (below(3)) {
            case 0:
                head[at] = byte;
                break;
            case 1:
                head.insert(at, 1, byte);
                break;
            default:
                head.erase(at, 1 + below(3));
        }
    }
    std::mt19937_64 random_;
};

// A seed of its own for every run, to be printed where something fails.
inline std::uint64_t new_seed() {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
}

}  // namespace sluice::test
