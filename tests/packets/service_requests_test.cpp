#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/service_dialogue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Requests of a declared HTTP service: whatever one of its servers may serve is counted or refused,
// and behind what cannot be followed nothing passes.
namespace sluice::service_requests_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::client;
using test::kAck;
using test::kFin;
using test::kLogin;
using test::kLoginSize;
using test::opened;
using test::server;

#define HTTP_SERVICE(options)                                                 \
    "version: 1\n"                                                            \
    "services:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 "    \
    "and l4.dport eq 80', mode: enforce, checksums: trust" options            \
    "}\nrules:\n  - {id: logins, mode: enforce, when: 'http.request.uri."     \
    "path eq \"/login\"', key: [ip.src], per: request, limits: [{algorithm: " \
    "fixed_window, count: 1, window: 1h}]}\n"
constexpr std::string_view kEnforced = HTTP_SERVICE("");
constexpr std::string_view kCounts = HTTP_SERVICE(", on_unreadable: count")
    "  - {id: all, mode: enforce, when: 'proto.l7 eq \"http\"', key: [ip.src], per: request, "
    "limits: [{algorithm: fixed_window, count: 2, window: 1h}]}\n";
constexpr std::string_view kPasses = HTTP_SERVICE(", on_unreadable: pass");

constexpr std::string_view kUnread =
    "version: 1\n"
    "services:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and l4.dport eq 80', "
    "mode: enforce, checksums: trust}\nrules:\n  - {id: others, mode: enforce, when: 'proto.l7 eq "
    "\"tls\"', on_match: drop}\n";
constexpr std::string_view kMonitored =
    "version: 1\n"
    "services:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and l4.dport eq 80', "
    "mode: monitor, checksums: trust}\nrules:\n  - {id: logins, mode: enforce, when: "
    "'http.request.uri.path eq \"/login\"', key: [ip.src], per: request, limits: [{algorithm: "
    "fixed_window, count: 1, window: 1h}]}\n";
constexpr std::string_view kHosts =
    "version: 1\n"
    "services:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and l4.dport eq 80', "
    "mode: enforce, checksums: trust}\nrules:\n  - {id: hosts, mode: enforce, key: [http.host], "
    "per: request, limits: [{algorithm: fixed_window, count: 1, window: 1h}]}\n";
constexpr std::string_view kHostsMonitored =
    "version: 1\n"
    "services:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and l4.dport eq 80', "
    "mode: monitor, checksums: trust}\nrules:\n  - {id: hosts, mode: enforce, key: [http.host], "
    "per: request, limits: [{algorithm: fixed_window, count: 1, window: 1h}]}\n";

std::string head_of(std::string_view host) {
    return "GET / HTTP/1.1\r\nHost: " + std::string{host} + "\r\n\r\n";
}
const std::string kTwoHosts = "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";
const std::string kBrackets = "GET http://[a]/ HTTP/1.1\r\nHost: z\r\n\r\n";
const std::string kBracketsAlone = "GET http://[login.example]/ HTTP/1.0\r\n\r\n";
const std::string kHalf = "GET /login HTTP/1.1\r\n";
const std::string kPost = "POST /up HTTP/1.1\r\nHost: a\r\n";
const std::string kChunked = kPost + "Transfer-Encoding: chunked\r\n\r\n";
const std::string kGetBody = "GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 32\r\n\r\n";
const std::string kGetBlanks = "GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n";
const std::string kLongGet = "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n";
const std::string kLongPost = kPost + "Content-Length: 60000\r\n\r\n";
const std::string kExpects = kPost + "Expect: 100-continue\r\nContent-Length: 32\r\n\r\n";
const std::string kJson = "{\"query\": {\"match_all\":  {}   }}";
constexpr Nanoseconds kHour{1h};

// So many bytes that begin no request.
std::string unreadable(std::size_t size) {
    return "\x16\x03\x01" + std::string(size - 5, 'x') + "\r\n";
}
std::uint32_t length(std::string_view text) {
    return static_cast<std::uint32_t>(text.size());
}

// An upload in chunks of whose segments the first comes last: the others are read with it.
struct Reordered {
    std::string body;
    std::uint32_t segment;

    [[nodiscard]] auto piece(std::uint32_t from, std::uint32_t size) const {
        return client(body.substr(from, size), length(kChunked) + from);
    }
    // Behind those, what `again` adds.
    template <typename Again>
    [[nodiscard]] auto with(Again again) const {
        auto sent = opened({{0ms, client(kChunked), "pass", "unmatched"}});
        for (std::uint32_t at = segment; at < length(body); at += segment) {
            sent.push_back({0ms, piece(at, segment), "pass", "unmatched"});
        }
        sent.push_back({0ms, piece(0, segment), "pass", "unmatched"});
        again(sent);
        sent.push_back(
            {0ms, client(kLogin, length(kChunked) + length(body)), "pass", "within_limits"});
        return sent;
    }
};
Reordered even_chunks() {
    std::string body;
    for (int i = 0; i < 16; ++i) {
        body += "200\r\n" + std::string(0x200, 'x') + "\r\n";
    }
    return {body + "0\r\n\r\n", 1460};
}
// More lines than are told apart.
Reordered small_chunks() {
    std::string body;
    for (int i = 0; i < 40; ++i) {
        body += "3\r\nabc\r\n5\r\nabcde\r\n";
    }
    return {body + "0\r\n\r\n", 160};
}
// Each segment comes again, then each two of them together, then from a half on.
auto each_again(const Reordered& upload, bool in_halves) {
    return upload.with([&](auto& sent) {
        const std::uint32_t size = upload.segment;
        for (std::uint32_t at = 0; at < length(upload.body); at += size) {
            sent.push_back({0ms, upload.piece(at, size), "pass", "unmatched"});
            sent.push_back({0ms, upload.piece(at, 2 * size), "pass", "unmatched"});
            if (in_halves) {
                sent.push_back({0ms, upload.piece(at + size / 2, size), "pass", "unmatched"});
            }
        }
    });
}
// Each with other bytes in it.
auto each_changed(const Reordered& upload) {
    return upload.with([&](auto& sent) {
        Reordered other = upload;
        for (std::uint32_t at = 0; at < length(upload.body); at += upload.segment) {
            const std::size_t line = other.body.find("\r\n", at);
            other.body[line] = 'x';
            sent.push_back({0ms, other.piece(at, upload.segment), "drop", "overlap"});
        }
    });
}

const Case kCases[] = {
    {"segments of chunks that were read together come again by themselves", kEnforced,
     each_again(even_chunks(), true)},
    {"also those of more lines than are told apart", kEnforced, each_again(small_chunks(), false)},
    {"and what is in the place of either is refused", kEnforced, each_changed(even_chunks())},
    {"of many lines too", kEnforced, each_changed(small_chunks())},

    {"a CR before the method is another reading", kEnforced,
     opened({{0ms, client("\r" + kLogin), "drop", "ambiguous_request"}})},
    {"so is LF CR", kEnforced,
     opened({{0ms, client("\n\r" + kLogin), "drop", "ambiguous_request"}})},
    {"so are blanks that no RFC names", kEnforced,
     opened({{0ms, client("\v" + kLogin), "drop", "ambiguous_request"}})},
    {"and in the place of SP", kEnforced,
     opened({{0ms, client("GET\v/login\fHTTP/1.1\r\n\r\n"), "drop", "ambiguous_request"}})},

    {"a request of HTTP/0.9 is one", kEnforced,
     opened({{0ms, client("GET /login\r\n\r\n"), "drop", "ambiguous_request"}})},

    {"a name in brackets is a host to some and none to others", kHosts,
     opened({{0ms, client(kBrackets), "drop", "ambiguous_request"}})},
    {"so is one that no Host line stands beside", kHosts,
     opened({{0ms, client(kBracketsAlone), "drop", "ambiguous_request"}})},
    {"where nothing is refused for it, it is charged as the name", kHostsMonitored,
     opened({{0ms, client(head_of("login.example")), "pass", "within_limits"},
             {0ms, client(kBracketsAlone, length(head_of("login.example"))), "drop", "over_limit",
              "hosts", kHour}})},
    {"two Host lines that differ are two readings", kHosts,
     opened({{0ms, client(kTwoHosts), "drop", "ambiguous_request"}})},

    {"a method of any length is one", kEnforced,
     opened({{0ms, client(std::string(33, 'M') + kLogin.substr(3)), "pass", "within_limits"},
             {0ms, client(std::string(200, 'M') + kLogin.substr(3), kLoginSize + 30), "drop",
              "over_limit", "logins", kHour}})},

    {"an encoded slash that some servers decode is refused, or charged as both", kEnforced,
     opened({{0ms, client("GET /x/..%2Flogin HTTP/1.1\r\nHost: a\r\n\r\n"), "drop",
              "ambiguous_request"}})},
    {"a path of npm or GitLab has one", kEnforced,
     opened({{0ms, client("GET /@scope%2fname HTTP/1.1\r\nHost: a\r\n\r\n"), "drop",
              "ambiguous_request"}})},
    {"a path with %00, which some servers end there, is refused", kEnforced,
     opened({{0ms, client("GET /login%00.x HTTP/1.1\r\nHost: a\r\n\r\n"), "drop",
              "ambiguous_request"}})},
    {"in a query it is a byte like others", kEnforced,
     opened({{0ms, client("GET /x?p=a%2Fb HTTP/1.1\r\nHost: a\r\n\r\n"), "pass", "unmatched"}})},

    {"a body of CONNECT is the next request to some servers", kEnforced,
     opened({{0ms, client("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\nContent-Length: 58\r\n\r\n"),
              "drop", "ambiguous_request"}})},
    {"a comma in a host is a list to some servers", kEnforced,
     opened(
         {{0ms, client("GET /index HTTP/1.1\r\nHost: a,b\r\n\r\n"), "drop", "ambiguous_request"}})},

    {"a body of GET that a server may leave unread is no request's", kEnforced,
     opened({{0ms, client(kGetBody + kLogin), "drop", "ambiguous_request"},
             {0ms, client(kLogin, length(kGetBody) + kLoginSize), "drop", "unreadable"}})},
    {"wherever it is cut", kEnforced,
     opened({{0ms, client(kGetBody), "pass", "unmatched"},
             {0ms, client("\r\n", length(kGetBody)), "pass", "unmatched"},
             {0ms, client("G", length(kGetBody) + 2), "drop", "ambiguous_request"},
             {0ms, client("ET /login", length(kGetBody) + 3), "drop", "unreadable"}})},
    {"and where its first byte comes last", kEnforced,
     opened({{0ms, client(kGetBody), "pass", "unmatched"},
             {0ms, client(kLogin.substr(1), length(kGetBody) + 1), "pass", "unmatched"},
             {0ms, client("G", length(kGetBody)), "drop", "ambiguous_request"}})},
    {"one of JSON is its body, and what follows the next request", kEnforced,
     opened({{0ms, client(kGetBody), "pass", "unmatched"},
             {0ms, client(kJson, length(kGetBody)), "pass", "unmatched"},
             {0ms, client(kLogin, length(kGetBody) + length(kJson)), "pass", "within_limits"},
             {0ms, client(kLogin, length(kGetBody) + length(kJson) + kLoginSize), "drop",
              "over_limit", "logins", kHour}})},
    {"the first byte that has been looked at stands", kEnforced,
     opened({{0ms, client(kGetBody), "pass", "unmatched"},
             {0ms, client(kJson.substr(0, 5), length(kGetBody)), "pass", "unmatched"},
             {0ms, client("GET /", length(kGetBody)), "drop", "overlap"}})},
    {"chunks of GET are watched too", kEnforced,
     opened({{0ms,
              client("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n" +
                     kLogin + "\r\n0\r\n\r\n"),
              "drop", "ambiguous_request"}})},
    {"nor is one that does not begin for long", kEnforced,
     opened({{0ms, client(kGetBlanks), "pass", "unmatched"},
             {0ms, client(std::string(64, '\n'), length(kGetBlanks)), "pass", "unmatched"},
             {0ms, client(" ", length(kGetBlanks) + 64), "drop", "ambiguous_request"}})},
    {"one of a form is nobody's to refuse where no rule reads requests", kUnread,
     opened({{0ms, client(kGetBody + "id=5"), "pass", "unmatched"},
             {0ms, client("&", length(kGetBody) + 4), "pass", "unmatched"}})},
    {"a body of POST begins as it likes", kEnforced,
     opened({{0ms, client(kPost + "Content-Length: 32\r\n\r\n" + kLogin), "pass", "unmatched"},
             {0ms, client(kLogin, length(kPost) + 22 + kLoginSize), "pass", "within_limits"}})},
    {"a server that monitors counts what it would refuse", kMonitored,
     opened({{0ms, client(kGetBody + kLogin), "pass", "unmatched"},
             {0ms, client(kLogin, length(kGetBody) + kLoginSize), "pass", "within_limits"}})},

    {"an expectation that servers refuse may end the request with its head", kEnforced,
     opened({{0ms, client(kPost + "Expect: x\r\nContent-Length: 99\r\n\r\n"), "drop",
              "ambiguous_request"}})},
    {"a body that the server was to ask for is its body, whatever is lost of it", kEnforced,
     opened({{0ms, client(kExpects), "pass", "unmatched"},
             {0ms, client("GET / HTTP/1.1\r\n", length(kExpects)), "pass", "unmatched"},
             {0ms, client("}", length(kExpects) + 31), "pass", "unmatched"},
             {0ms, client(kLogin, length(kExpects) + 32), "pass", "within_limits"}})},
    {"so is one of GET that has begun", kEnforced,
     opened({{0ms, client(kLongGet), "pass", "unmatched"},
             {0ms, client("{", length(kLongGet)), "pass", "unmatched"},
             {0ms, client("1}", length(kLongGet) + 40'000), "pass", "unmatched"},
             {0ms, client(kLogin, length(kLongGet) + 60'000), "pass", "within_limits"},
             {0ms, client(kLogin, length(kLongGet) + 60'000 + kLoginSize), "drop", "over_limit",
              "logins", kHour}})},

    {"a SYN behind a FIN, of a connection that may follow, leaves the body where it is", kEnforced,
     opened({{0ms, client(kLongPost), "pass", "unmatched"},
             {0ms, server("", 0, length(kLongPost)), "pass", "unmatched"},
             {0ms, client("", length(kLongPost) + 60'000).flags(kFin | kAck), "pass", "unmatched"},
             {0ms, test::syn(test::kClientIss + 200'000), "pass", "unmatched"},
             {0ms, client(kLogin, length(kLongPost)), "pass", "unmatched"}})},

    {"a chunk size that never ends ends the connection", kEnforced,
     opened({{0ms, client(kChunked), "pass", "unmatched"},
             {0ms, client("0;" + std::string(5000, 'x'), length(kChunked)), "drop",
              "malformed_request"},
             {0ms, client("\r\n\r\n" + kLogin, length(kChunked) + 5002), "drop", "unreadable"}})},

    {"so does a chunk of 2^32 bytes, which some servers take for none", kEnforced,
     opened({{0ms, client(kChunked), "pass", "unmatched"},
             {0ms, client("100000000\r\n\r\n" + kLogin, length(kChunked)), "drop",
              "malformed_request"},
             {0ms, client(kLogin, length(kChunked) + 13), "drop", "unreadable"}})},
    {"an upload of a little less goes on", kEnforced,
     opened({{0ms, client(kChunked), "pass", "unmatched"},
             {0ms, client("7FFFFFFF\r\n" + kLogin, length(kChunked)), "pass", "unmatched"},
             {0ms, client(kLogin, length(kChunked) + 10 + kLoginSize), "pass", "unmatched"}})},
    {"a trailer that is no field ends the connection", kEnforced,
     opened({{0ms, client(kChunked), "pass", "unmatched"},
             {0ms, client("0\r\nGET /login HTTP/1.1\r\n\r\n", length(kChunked)), "drop",
              "malformed_request"},
             {0ms, client(kLogin, length(kChunked) + 28), "drop", "unreadable"}})},

    {"a line of chunks that servers read differently is the connection's last", kEnforced,
     opened({{0ms, client(kChunked), "pass", "unmatched"},
             {0ms, client("FFFFFFF \r\n", length(kChunked)), "drop", "ambiguous_request"},
             {0ms, client("0\r\n\r\n" + kLogin, length(kChunked)), "drop", "unreadable"},
             {0ms, client(kLogin, length(kChunked) + 5), "drop", "unreadable"}})},

    {"the first line of a chunk stands: another in its place is refused", kEnforced,
     opened({{0ms, client(kChunked), "pass", "unmatched"},
             {0ms, client("1000\r\n", length(kChunked)), "pass", "unmatched"},
             {0ms, client("0\r\n\r\n" + kLogin, length(kChunked)), "drop", "overlap"},
             {0ms, client("0", length(kChunked)), "drop", "overlap"},
             {0ms, client("1000\r\n", length(kChunked)), "pass", "unmatched"},
             {0ms, client("1000\r\n" + std::string(0x1000, 'x'), length(kChunked)), "pass",
              "unmatched"}})},

    {"so does one that comes in parts, and ahead of its place", kEnforced,
     opened({{0ms, client(kChunked + "1"), "pass", "unmatched"},
             {0ms, client("00\r\n", length(kChunked) + 2), "pass", "unmatched"},
             {0ms, client("0", length(kChunked) + 1), "pass", "unmatched"},
             {0ms, client("\r\n\r\n" + kLogin, length(kChunked) + 1), "drop", "overlap"},
             {0ms, client("\r\n" + kLogin, length(kChunked) + 2), "drop", "overlap"},
             {0ms, client("000\r\n", length(kChunked) + 1), "pass", "unmatched"}})},

    {"and the last one, and trailers", kEnforced,
     opened(
         {{0ms, client(kChunked), "pass", "unmatched"},
          {0ms, client("0\r\nA: b\r\n\r\n", length(kChunked)), "pass", "unmatched"},
          {0ms, client("8\r\n" + kLogin, length(kChunked)), "drop", "overlap"},
          {0ms, client("0\r\nA: bcde" + kLogin, length(kChunked)), "drop", "overlap"},
          {0ms, client("0\r\nA: b\r\n\r\n" + kLogin, length(kChunked)), "pass", "within_limits"}})},

    {"a line that the server has acknowledged is nobody's to change", kEnforced,
     opened({{0ms, client(kChunked + "5\r\nhello\r\n"), "pass", "unmatched"},
             {0ms, server("", 0, length(kChunked) + 10), "pass", "unmatched"},
             {0ms, client("0\r\n", length(kChunked)), "pass", "unmatched"},
             {0ms, client("0\r\n\r\n" + kLogin, length(kChunked) + 10), "pass", "within_limits"}})},

    {"bytes of a body of known length frame nothing", kEnforced,
     opened({{0ms, client(kPost + "Content-Length: 4\r\n\r\n"), "pass", "unmatched"},
             {0ms, client("abcd", length(kPost) + 21), "pass", "unmatched"},
             {0ms, client("efgh", length(kPost) + 21), "pass", "unmatched"},
             {0ms, client("efgh" + kLogin, length(kPost) + 21), "pass", "within_limits"}})},

    {"a request behind CONNECT that the server has not agreed to is read as ever", kEnforced,
     opened({{0ms, client("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n"), "pass", "unmatched"},
             {0ms, client("GET", 37), "pass", "unmatched"},
             {0ms, client(kLogin.substr(3), 40), "pass", "within_limits"},
             {0ms, client(kLogin, 37 + kLoginSize), "drop", "over_limit", "logins", kHour}})},

    {"a FIN that ends half a head does not make it whole", kEnforced,
     opened({{0ms, client(kHalf), "pass", "unmatched"},
             {0ms, client("", length(kHalf)).flags(kFin | kAck), "drop", "unreadable"},
             {0ms, client("", length(kHalf)).flags(kFin | kAck), "drop", "unreadable"},
             {5min, client("", length(kHalf)).flags(kFin | kAck), "drop", "unreadable"}})},

    {"nor does one in the segment that it ends with", kEnforced,
     opened({{0ms, client(kHalf).flags(kFin | kAck), "drop", "unreadable"}})},

    {"nor one that came ahead of it", kEnforced,
     opened({{0ms, client("", length(kHalf)).flags(kFin | kAck), "pass", "unmatched"},
             {0ms, client(kHalf), "drop", "unreadable"},
             {0ms, client(kHalf), "drop", "unreadable"}})},

    {"a FIN behind a whole request is forwarded", kEnforced,
     opened({{0ms, client(kLogin).flags(kFin | kAck), "pass", "within_limits"}})},

    {"a record of TLS is no request from its second byte on, without a line end", kEnforced,
     opened({{0ms, client("\x16"), "pass", "unmatched"},
             {0ms, client("\x03\x01\x02", 1), "drop", "unreadable"},
             {0ms, client(kLogin, 4), "drop", "unreadable"}})},
    {"nor behind a request, or empty lines", kEnforced,
     opened({{0ms, client("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "pass", "unmatched"},
             {0ms, client("\r\n\x16\x03\x03", 27), "drop", "unreadable"}})},
    {"one that is counted is charged as a request", kCounts,
     opened({{0ms, client("\x16\x03\x01\x02"), "pass", "within_limits"},
             {0ms, client("\x01\x01\xFC\x03", 4), "pass", "within_limits"},
             {0ms, client("\x03\x03", 8), "drop", "over_limit", "all", kHour}})},

    {"what cannot be read is charged as one request each 1,460 bytes, of no path", kCounts,
     opened({{0ms, client("\x16\x03\x01hello\r\n\r\n"), "pass", "within_limits"},
             {0ms, client(kLogin, 12), "pass", "within_limits"},
             {0ms, client(kLogin, 12 + kLoginSize), "drop", "over_limit", "all", kHour}})},

    {"one that fills a segment of these as one", kCounts,
     opened({{0ms, client(unreadable(1460)), "pass", "within_limits"},
             {0ms, client(unreadable(1460), 1460), "pass", "within_limits"},
             {0ms, client(unreadable(1460), 2920), "drop", "over_limit", "all", kHour}})},
    {"one of a byte more as two", kCounts,
     opened({{0ms, client(unreadable(1461)), "pass", "within_limits"},
             {0ms, client("x", 1461), "drop", "over_limit", "all", kHour}})},
    {"one of a byte more than two such segments as three, for which there is no room", kCounts,
     opened({{0ms, client(unreadable(2921)), "drop", "over_limit", "all", Nanoseconds::max()}})},

    {"or passes", kPasses,
     opened({{0ms, client("\x16\x03\x01hello\r\n\r\n"), "pass", "unmatched"},
             {0ms, client(kLogin, 12), "pass", "unmatched"}})},
};

// Requests to a box that reads them as every server does (on_ambiguous: both).
const Case kReadings[] = {
    {"a path of npm or GitLab passes where none of its readings has a limit", kEnforced,
     opened({{0ms, client("GET /@scope%2fname HTTP/1.1\r\nHost: a\r\n\r\n"), "pass", "unmatched"},
             {0ms, client("GET /x%2flogin HTTP/1.1\r\nHost: a\r\n\r\n", 40), "pass", "unmatched"},
             {0ms, client("GET /%2flogin HTTP/1.1\r\nHost: a\r\n\r\n", 76), "pass",
              "within_limits"}})},
    {"what servers read differently is charged as each of its readings", kEnforced,
     opened(
         {{0ms, client("GET /x/..%2Flogin HTTP/1.1\r\nHost: a\r\n\r\n"), "pass", "within_limits"},
          {0ms, client(kLogin, 39), "drop", "over_limit", "logins", kHour}})},

    {"a path with %00 is refused as each of its readings, too", kEnforced,
     opened({{0ms, client("GET /login%00 HTTP/1.1\r\nHost: a\r\n\r\n"), "drop",
              "ambiguous_request"}})},
    {"so is one that has it in another reading alone", kEnforced,
     opened({{0ms, client("GET /x#/../login%00 HTTP/1.1\r\nHost: a\r\n\r\n"), "drop",
              "ambiguous_request"}})},

    {"a request of HTTP/0.9 is charged, and ends its connection", kEnforced,
     opened({{0ms, client("GET /login\r\n"), "pass", "within_limits"},
             {0ms, client(kLogin, 12), "drop", "unreadable"}})},
    {"to one without room it is refused", kEnforced,
     opened({{0ms, client(kLogin), "pass", "within_limits"},
             {0ms, client("GET /login\r\n", kLoginSize), "drop", "over_limit", "logins", kHour}})},
    {"it ends with its line, however little of that comes last", kEnforced,
     opened({{0ms, client("GET /login\r"), "pass", "unmatched"},
             {0ms, client("\n", 11), "pass", "within_limits"},
             {0ms, client(kLogin, 12), "drop", "unreadable"}})},
    {"and behind empty lines", kEnforced,
     opened({{0ms, client(kLogin + "\r\n\r\nGET /log"), "pass", "within_limits"},
             {0ms, client("in", kLoginSize + 12), "pass", "unmatched"},
             {0ms, client("\r\n", kLoginSize + 14), "drop", "over_limit", "logins", kHour}})},
    {"and where its end comes first", kEnforced,
     opened({{0ms, client(kLogin), "pass", "within_limits"},
             {0ms, client("\r\n", kLoginSize + 10), "pass", "unmatched"},
             {0ms, client("GET /login", kLoginSize), "drop", "over_limit", "logins", kHour}})},

    {"a name in brackets is refused beside another host", kHosts,
     opened({{0ms, client(kBrackets), "drop", "ambiguous_request"}})},
    {"so is one that no Host line stands beside", kHosts,
     opened({{0ms, client(kBracketsAlone), "drop", "ambiguous_request"}})},
    {"two Host lines that differ are charged as both", kHosts,
     opened(
         {{0ms, client(kTwoHosts), "pass", "within_limits"},
          {0ms, client(head_of("a"), length(kTwoHosts)), "drop", "over_limit", "hosts", kHour}})},
    {"the second of them too", kHosts,
     opened({{0ms, client(kTwoHosts), "pass", "within_limits"},
             {0ms, client(head_of("c"), length(kTwoHosts)), "pass", "within_limits"},
             {0ms, client(head_of("b"), length(kTwoHosts) + length(head_of("c"))), "drop",
              "over_limit", "hosts", kHour}})},
    {"and refused if one of them has no room", kHosts,
     opened(
         {{0ms, client(head_of("b")), "pass", "within_limits"},
          {0ms, client(kTwoHosts, length(head_of("b"))), "drop", "over_limit", "hosts", kHour}})},

    {"behind a request with both lengths nothing passes", kEnforced,
     opened({{0ms,
              client(kPost + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" +
                     "0\r\n\r\n" + kLogin),
              "drop", "ambiguous_request"},
             {0ms, client(kLogin, 90), "drop", "unreadable"}})},
};

// Targets that one of the six servers serves as /login, of which servers agree on all but the path.
const char* const kLoginTargets[] = {"/login",
                                     "/%6Cogin",
                                     "//login",
                                     "/./login",
                                     "/x/../login",
                                     "/x/%2e%2e/login",
                                     "/%2E/login",
                                     "http://a/login",
                                     "http://a/x/../login",
                                     "/x/.//../login",
                                     "/%3A/../login",
                                     "/%3a/%2E%2e/login",
                                     "/../login",
                                     "/x/y/../../login",
                                     "//h/login",
                                     "///h/x/../login",
                                     "/\\login",
                                     "/\\h\\login",
                                     "/x\\..\\login",
                                     "//u@h:1/login?//x",
                                     "http://b/login",
                                     "http://[::1]/login"};
// And those where some take %2F for a slash.
const char* const kSlashedTargets[] = {"/x%2F..%2Flogin", "/x%2f../login",   "/%2Flogin",
                                       "/x/..%2Flogin",   "/%3A%2F../login", "/y/./..%2flogin"};

// Under whatever option a target that is served as /login is counted as one, or refused.
TEST(ServicePaths, NothingServedAsLoginGoesUncounted) {
    for (const OnAmbiguous option : {OnAmbiguous::Refuse, OnAmbiguous::Both}) {
        const auto judge = [&](std::string_view target) {
            UnitBudget budget = capture_unit_budget();
            budget.on_ambiguous = option;
            UnitParser parser{budget};
            test::Box box{kEnforced};
            box.find_units_by(parser.finder());
            for (const test::Frame& frame : {test::syn(), test::syn_ack(), client("")}) {
                (void)box.judge(frame, test::kStart);
            }
            const std::string login = "GET " + std::string{target} + " HTTP/1.1\r\nHost: a\r\n\r\n";
            const Reason first = box.judge(client(login), test::kStart).reason;
            if (first == Reason::WithinLimits) {
                EXPECT_EQ(box.judge(client(kLogin, length(login)), test::kStart).reason,
                          Reason::OverLimit)
                    << target;
                EXPECT_EQ(box.counters(0).admitted.read(), 1U) << target;
            }
            return first;
        };
        for (const char* target : kLoginTargets) {
            EXPECT_EQ(judge(target), Reason::WithinLimits) << target;
        }
        for (const char* target : kSlashedTargets) {
            EXPECT_EQ(judge(target),
                      option == OnAmbiguous::Both ? Reason::WithinLimits : Reason::AmbiguousRequest)
                << target;
        }
    }
}

// A service that monitors counts what it would refuse, and all that servers read in it.
TEST(ServicePaths, OneThatMonitorsCountsEachReading) {
    std::string rules{kEnforced};
    rules.replace(rules.find("mode: enforce"), std::string_view{"mode: enforce"}.size(),
                  "mode: monitor");
    for (const std::string line : {"", "X: a\r\n b\r\n"}) {
        for (const char* target : kSlashedTargets) {
            UnitBudget budget = capture_unit_budget();
            budget.on_ambiguous = OnAmbiguous::Refuse;
            UnitParser parser{budget};
            test::Box box{rules};
            box.find_units_by(parser.finder());
            for (const test::Frame& frame : {test::syn(), test::syn_ack(), client("")}) {
                (void)box.judge(frame, test::kStart);
            }
            const std::string login =
                "GET " + std::string{target} + " HTTP/1.1\r\nHost: a\r\n" + line + "\r\n";
            EXPECT_EQ(box.judge(client(login), test::kStart).reason, Reason::WithinLimits)
                << target << line;
            EXPECT_EQ(box.counters(0).admitted.read(), 1U) << target << line;
        }
    }
}

// One connection for each cut of a text in two, in their order or not; what is said of a cut are
// the reasons of both segments.
class Cuts {
public:
    explicit Cuts(OnAmbiguous option) : parser_{budget(option)} {
        box_.find_units_by(parser_.finder());
    }

    std::vector<Reason> judge(const std::string& text, std::size_t cut, bool is_reversed) {
        ++port_;
        for (const test::Frame& frame :
             {test::syn().sport(port_), test::syn_ack().dport(port_), client("").sport(port_)}) {
            (void)box_.judge(frame, test::kStart);
        }
        const auto at = static_cast<std::uint32_t>(cut);
        const test::Frame first = client(text.substr(0, cut)).sport(port_);
        const test::Frame second = client(text.substr(cut), at).sport(port_);
        std::vector<Reason> reasons;
        for (const test::Frame& frame :
             is_reversed ? std::array{second, first} : std::array{first, second}) {
            reasons.push_back(box_.judge(frame, test::kStart).reason);
        }
        return reasons;
    }
    // Behind the text, on the latest connection.
    Reason behind(const std::string& text) {
        return box_.judge(client(kLogin, length(text)).sport(port_), test::kStart).reason;
    }

private:
    static UnitBudget budget(OnAmbiguous option) {
        UnitBudget budget = capture_unit_budget();
        budget.on_ambiguous = option;
        return budget;
    }
    UnitParser parser_;
    test::Box box_{kEnforced};
    std::uint16_t port_ = 1;
};

// Half heads that are whole to some server: aiohttp and the server of OpenJDK take CR CR LF for an
// empty line. The piece that completes such an end is refused, and what follows it.
TEST(ServiceHalfHeads, AnEndThatOneServerTakesIsRefusedWithItsByte) {
    for (const OnAmbiguous option : {OnAmbiguous::Refuse, OnAmbiguous::Both}) {
        Cuts cuts{option};
        // Each with the bytes that end in its doubt.
        const std::pair<std::string, std::string> rows[] = {
            {"GET /login HTTP/1.1\r\nHost: a\r\n\r\r", "\n"},
            {"GET /login HTTP/1.1\r\nHost: a\r\r", "\n"},
            {"GET /login HTTP/1.1\r\r", "\n"},
            {"GET /login HTTP/1.1\r\nX: \rb", "\r\nHost: a\r\n"},
            {"\r\r", "\nGET /login HTTP/1.1\r\n"},
            {"GET /login HTTP/1.1\r\nHost: a\r\n\rX", ": b"}};
        for (const auto& [doubtful, rest] : rows) {
            const std::string text = doubtful + rest;
            const std::size_t doubt = doubtful.size();
            for (std::size_t cut = 1; cut < text.size(); ++cut) {
                SCOPED_TRACE(text + " at " + std::to_string(cut));
                const std::vector<Reason> in_order = cuts.judge(text, cut, false);
                EXPECT_EQ(in_order[cut < doubt ? 1 : 0], Reason::AmbiguousRequest);
                EXPECT_EQ(cuts.behind(text), Reason::Unreadable);
                const std::vector<Reason> reversed = cuts.judge(text, cut, true);
                EXPECT_EQ(reversed[1], Reason::AmbiguousRequest);
                EXPECT_EQ(cuts.behind(text), Reason::Unreadable);
            }
        }
    }
}

// Byte by byte all before the doubt passes, and nothing from there on.
TEST(ServiceHalfHeads, NothingPassesFromTheDoubtOn) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{kEnforced};
    box.find_units_by(parser.finder());
    for (const test::Frame& frame : {test::syn(), test::syn_ack(), client("")}) {
        (void)box.judge(frame, test::kStart);
    }
    const std::string text = kLogin.substr(0, kLogin.size() - 2) + "\r\r\n" + kLogin;
    const std::size_t doubt = text.find("\r\r") + 1;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const Reason reason =
            box.judge(client(text.substr(at, 1), static_cast<std::uint32_t>(at)), test::kStart)
                .reason;
        EXPECT_EQ(reason, at < doubt    ? Reason::Unmatched
                          : at == doubt ? Reason::AmbiguousRequest
                                        : Reason::Unreadable)
            << at;
    }
}

// Line ends and bytes that no server takes for another end are refused with the head's last byte.
TEST(ServiceHalfHeads, WhatElseIsOddIsRefusedByItsEnd) {
    Cuts cuts{OnAmbiguous::Refuse};
    using namespace std::string_literals;
    for (const std::string& text :
         {"GET /login HTTP/1.1\nHost: a\n\n"s, "GET /login HTTP/1.1\r\nHost: a\n\r\n"s,
          "GET /login HTTP/1.1\r\nHost: a\r\n\n"s, "GET /login HTTP/1.1\r\nHost: a\0\r\n\r\n"s,
          "GET /login HTTP/1.1\r\nHost: a\r\n \r\n\r\n"s,
          "GET /login HTTP/1.1\r\nHost: a\r\nX\r\n\r\n"s}) {
        for (std::size_t cut = 1; cut < text.size(); ++cut) {
            SCOPED_TRACE(text + " at " + std::to_string(cut));
            const Reason last = cuts.judge(text, cut, false)[1];
            EXPECT_TRUE(last == Reason::AmbiguousRequest || last == Reason::MalformedRequest);
        }
    }
}

// An honest head in two passes, wherever it is cut.
TEST(ServiceHalfHeads, HonestOnesWait) {
    Cuts cuts{OnAmbiguous::Refuse};
    const std::string text = "GET /x HTTP/1.1\r\nHost: a\r\nX:\r\n\r\n";
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
        for (const bool is_reversed : {false, true}) {
            EXPECT_EQ(cuts.judge(text, cut, is_reversed),
                      (std::vector{Reason::Unmatched, Reason::Unmatched}))
                << cut;
        }
    }
}

// Hosts that one program or another reads as another name, in each place that names one: new URL()
// of Node decodes and maps names and takes numbers for addresses, and urlsplit() of Python ends the
// host of a path at its colon. Honest ones are judged.
TEST(ServiceHosts, WhatSomeReadAsAnotherIsRefused) {
    for (const OnAmbiguous option : {OnAmbiguous::Refuse, OnAmbiguous::Both}) {
        UnitBudget budget = capture_unit_budget();
        budget.on_ambiguous = option;
        UnitParser parser{budget};
        test::Box box{kHosts};
        box.find_units_by(parser.finder());
        std::uint16_t port = 1;
        const auto judge = [&](const std::string& head) {
            ++port;
            for (const test::Frame& frame :
                 {test::syn().sport(port), test::syn_ack().dport(port), client("").sport(port)}) {
                (void)box.judge(frame, test::kStart);
            }
            return box.judge(client(head).sport(port), test::kStart).reason;
        };
        const auto places = [](const std::string& host) {
            return std::array{head_of(host),
                              "GET http://" + host + "/ HTTP/1.1\r\nHost: z1\r\n\r\n",
                              "GET //" + host + "/x HTTP/1.1\r\nHost: z2\r\n\r\n",
                              "GET /\\u@" + host + " HTTP/1.1\r\nHost: z3\r\n\r\n"};
        };
        for (const char* host :
             {"%6cogin.example", "l%6Fgin.example:80", "login%2Eexample", "login%E3%80%82example",
              "log%C2%ADin.example", "login.example:x", "login.example:80:9",
              "login.example:000080", "login!.example", "login~", "3232235777", "0xC0.0xA8.1.1",
              "192.168.257", "192.168.1.01", "a.0x", "[login.example]", "xn--login-.example",
              "www.Xn--login-", "example.org.xn--"}) {
            for (const std::string& head : places(host)) {
                EXPECT_EQ(judge(head), Reason::AmbiguousRequest) << head;
            }
        }
        for (const char* host :
             {"login.example:80", "192.0.2.1", "[2001:db8::1]:80", "a_b.example",
              "xn--bcher-kva.example", "r4---sn-a-.example", "web1", "1a.1b.de"}) {
            EXPECT_EQ(judge(head_of(host)), Reason::WithinLimits) << host;
        }
    }
}

// A path whose first segment is no host is one like any other where no rule names hosts.
TEST(ServiceHosts, OfAPathMatterToRulesOverHostsAlone) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{kEnforced};
    box.find_units_by(parser.finder());
    for (const test::Frame& frame : {test::syn(), test::syn_ack(), client("")}) {
        (void)box.judge(frame, test::kStart);
    }
    EXPECT_EQ(
        box.judge(client("GET //2024/a%20b.jpg HTTP/1.1\r\nHost: a\r\n\r\n"), test::kStart).reason,
        Reason::Unmatched);
}

// Some programs make capitals of a method: it is judged so too, whatever the option.
TEST(ServiceMethods, InSmallLettersAreJudgedInCapitalsToo) {
    const std::string rules =
        "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and "
        "l4.dport eq 80', mode: enforce, checksums: trust}\nrules:\n  - {id: d, mode: enforce, "
        "when: 'http.request.method eq \"POST\" and http.request.uri.path eq \"/login\"', "
        "on_match: drop}\n  - {id: small, mode: enforce, when: 'http.request.method eq \"patch\"', "
        "on_match: drop}\n";
    const auto judge = [&](std::string_view line) {
        UnitParser parser{capture_unit_budget()};
        test::Box box{rules};
        box.find_units_by(parser.finder());
        for (const test::Frame& frame : {test::syn(), test::syn_ack(), client("")}) {
            (void)box.judge(frame, test::kStart);
        }
        return box.judge(client(std::string{line} + " HTTP/1.1\r\nHost: a\r\n\r\n"), test::kStart)
            .reason;
    };
    for (const char* line : {"POST /login", "post /login", "Post /login", "pOST /a/../login",
                             "posT http://b/login", "patch /x"}) {
        EXPECT_EQ(judge(line), Reason::DenyRule) << line;
    }
    // The end of their answer cannot be told.
    for (const char* line : {"head /x", "HEAd /login", "connect a:80"}) {
        EXPECT_EQ(judge(line), Reason::AmbiguousRequest) << line;
    }
    for (const char* line : {"post /logins", "PATCH /x", "pos /login", "p`st /login"}) {
        EXPECT_EQ(judge(line), Reason::Unmatched) << line;
    }
}

// Lines of a request that all servers serve, of which some take the first and some the last: either
// is judged, whatever the option.
TEST(ServiceRepeats, EitherIsJudged) {
    const std::string rules =
        "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and "
        "l4.dport eq 80', mode: enforce, checksums: trust}\nrules:\n  - {id: d, mode: enforce, "
        "when: 'http.request.headers[\"x\"] eq \"real\" or http.cookies[\"s\"] eq \"real\" or "
        "http.user_agent eq \"real\"', on_match: drop}\n";
    for (const OnAmbiguous option : {OnAmbiguous::Refuse, OnAmbiguous::Both}) {
        UnitBudget budget = capture_unit_budget();
        budget.on_ambiguous = option;
        UnitParser parser{budget};
        test::Box box{rules};
        box.find_units_by(parser.finder());
        std::uint16_t port = 1;
        const auto judge = [&](std::string_view lines) {
            ++port;
            for (const test::Frame& frame :
                 {test::syn().sport(port), test::syn_ack().dport(port), client("").sport(port)}) {
                (void)box.judge(frame, test::kStart);
            }
            const std::string text =
                "GET /x/../y HTTP/1.1\r\nHost: a\r\n" + std::string{lines} + "\r\n";
            return box.judge(client(text).sport(port), test::kStart).reason;
        };
        for (const char* lines : {"X: real\r\nX: a\r\n",
                                  "X: a\r\nX: real\r\n",
                                  "X: a\r\nX: b\r\nX: real\r\n",
                                  "X: a\r\nX: real\r\nX: b\r\n",
                                  "X: a\r\nX: b\r\nX: real\r\nX: c\r\nX: d\r\n",
                                  "User_Agent: a\r\nUser_Agent: real\r\nuser_agent: b\r\n",
                                  "Cookie: s=a; s=real\r\n",
                                  "Cookie: s=real; s=a\r\n",
                                  "Cookie: s=a\r\nCookie: s=real\r\n",
                                  "Cookie: s=a\r\nCookie: s=real; s=b\r\n",
                                  "Cookie: s=a; s=real\r\nCookie: s=b\r\n",
                                  "Cookie: s=a; s=real\r\nCookie: t=b\r\n",
                                  "Cookie: s=a; s=real; s=b\r\n",
                                  "Cookie: s=a; s=real; s=a\r\n",
                                  "Cookie: s=a; s=b; s=c; s=d; s=real; s=e\r\n",
                                  "Cookie: s=a\r\nCookie: s=real\r\nCookie: s=b\r\n",
                                  "Cookie: s=a; s=b; s=real; s=c\r\nCookie: s=d\r\n",
                                  "X: a\r\nX: b\r\nX: c\r\nCookie: s=a; s=real; s=b\r\n",
                                  "User-Agent: a\r\nUser-Agent: real\r\n",
                                  "User_Agent: real\r\n",
                                  "User-Agent: a\r\nUSER.AGENT: real\r\n",
                                  "User_Agent: real\r\nUser-Agent: a\r\n",
                                  "User_Agent: a\r\nUser_Agent: b\r\nuser_agent: real\r\n",
                                  "User!Agent: real\r\n",
                                  "User-Agent: a\r\nUser~Agent: real\r\n"}) {
            EXPECT_EQ(judge(lines), Reason::DenyRule) << lines;
        }
        for (const char* lines : {"X: a\r\nX: b\r\n", "Cookie: s=a; s=b\r\nCookie: s=c; s=d\r\n",
                                  "Cookie: s=a; t=real; S=real; s=b\r\n",
                                  "User_Agent: a\r\nUserxAgent: real\r\nUser0Agent: real\r\n"}) {
            EXPECT_EQ(judge(lines), Reason::Unmatched) << lines;
        }
    }
}

// Each doubt alone is judged; all combinations of many cost as much as a flood.
TEST(ServiceRepeats, MoreReadingsThanAreJudgedAreRefused) {
    const std::string rules =
        ", checksums: trust}\nrules:\n  - {id: d, mode: enforce, key: [http.host, "
        "http.request.uri.path, 'http.request.headers[\"x-k\"]', 'http.cookies[\"s\"]'], "
        "per: request, limits: [{algorithm: fixed_window, count: 1000, window: 1h}]}\n";
    const auto judge = [&](std::string_view mode, const std::string& head) {
        UnitParser parser{capture_unit_budget()};
        test::Box box{
            "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and "
            "l4.dport eq 80', mode: " +
            std::string{mode} + rules};
        box.find_units_by(parser.finder());
        for (const test::Frame& frame : {test::syn(), test::syn_ack(), client("")}) {
            (void)box.judge(frame, test::kStart);
        }
        return box.judge(client("GET " + head + "\r\n"), test::kStart).reason;
    };
    const std::string host = " HTTP/1.1\r\nHost: b\r\n";
    const std::string keys = "X-K: 1\r\nX-K: 2\r\n";
    const std::string cookies = "Cookie: s=1; s=2\r\n";
    for (const std::string& head :
         {"//a/x%21" + host, "//a/x" + host + keys, "/x%21" + host + keys + cookies}) {
        EXPECT_EQ(judge("enforce", head + "Cookie: s=1\r\nX-K: 1\r\n"), Reason::WithinLimits)
            << head;
    }
    const std::string many = "//a/b\\..\\%3b%24/../c/%2e/c%3d/1" + host + keys +
                             "X_K: 3\r\nX_K: 4\r\n" + cookies + "Cookie: s=3; s=4\r\n";
    EXPECT_EQ(judge("enforce", many), Reason::AmbiguousRequest);
    EXPECT_EQ(judge("monitor", many), Reason::WithinLimits);
}

// Some programs take off blanks of Latin 1.
TEST(ServiceRepeats, AHighBlankAtAnEndIsRefused) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{
        "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and "
        "l4.dport eq 80', mode: enforce, checksums: trust}\nrules:\n  - {id: d, mode: enforce, "
        "when: 'http.request.headers[\"x\"] eq \"real\"', on_match: drop}\n"};
    box.find_units_by(parser.finder());
    std::uint16_t port = 1;
    const auto judge = [&](const std::string& line) {
        ++port;
        for (const test::Frame& frame :
             {test::syn().sport(port), test::syn_ack().dport(port), client("").sport(port)}) {
            (void)box.judge(frame, test::kStart);
        }
        const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n" + line + "\r\n\r\n";
        return box.judge(client(head).sport(port), test::kStart).reason;
    };
    for (const char* line : {"X: real\xa0", "X: \x85real", "X: real\xa0\x85", "X: a\r\nX: \xa0"}) {
        EXPECT_EQ(judge(line), Reason::AmbiguousRequest) << line;
    }
    for (const char* line : {"X: citt\xc3\xa0", "Y: real\xa0", "X: a\xa0z"}) {
        EXPECT_EQ(judge(line), Reason::Unmatched) << line;
    }
}

// Proxies add four between the first and the last on their way at most, and browsers as many.
TEST(ServiceRepeats, MoreThanAreJudgedIsRefused) {
    const std::string rules =
        ", checksums: trust}\nrules:\n  - {id: d, mode: enforce, when: "
        "'http.request.headers[\"x\"] eq \"real\" or http.cookies[\"s\"] eq \"real\"', on_match: "
        "drop}\n";
    struct Lines {
        int headers = 1;  // of a name
        int cookies = 1;
    };
    const auto judge = [&](std::string_view mode, Lines lines) {
        UnitParser parser{capture_unit_budget()};
        test::Box box{
            "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and "
            "l4.dport eq 80', mode: " +
            std::string{mode} + rules};
        box.find_units_by(parser.finder());
        for (const test::Frame& frame : {test::syn(), test::syn_ack(), client("")}) {
            (void)box.judge(frame, test::kStart);
        }
        std::string head = "GET / HTTP/1.1\r\nHost: a\r\n";
        for (int i = 0; i < lines.headers; ++i) {
            const std::string number = std::to_string(i);
            head += "X: " + number + "\r\nY: " + number + "\r\n";
        }
        head += "Cookie: ";
        for (int i = 0; i < lines.cookies; ++i) {
            const std::string number = std::to_string(i);
            head += "s=" + number + "; t=" + number + "; ";
        }
        head += "\r\n";
        return box.judge(client(head + "\r\n"), test::kStart).reason;
    };
    for (const Lines few : {Lines{.headers = 6}, Lines{.cookies = 6}, Lines{2, 6}, Lines{3, 4}}) {
        EXPECT_EQ(judge("enforce", few), Reason::Unmatched) << few.headers << ' ' << few.cookies;
    }
    for (const Lines many : {Lines{.headers = 7}, Lines{.cookies = 7}}) {
        EXPECT_EQ(judge("enforce", many), Reason::AmbiguousRequest) << many.headers;
        EXPECT_EQ(judge("monitor", many), Reason::Unmatched) << many.headers;
    }
}

// The keys of both are charged, so that one beside it brings no bucket of its own.
TEST(ServiceRepeats, TheKeysOfBothAreCharged) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{
        "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and "
        "l4.dport eq 80', mode: enforce, checksums: trust}\nrules:\n  - {id: k, mode: enforce, "
        "key: ['http.request.headers[\"x\"]'], per: request, limits: [{algorithm: fixed_window, "
        "count: 1, window: 1h}]}\n"};
    box.find_units_by(parser.finder());
    for (const test::Frame& frame : {test::syn(), test::syn_ack(), client("")}) {
        (void)box.judge(frame, test::kStart);
    }
    const std::string first = "GET / HTTP/1.1\r\nHost: a\r\nX: a1\r\nX: real\r\n\r\n";
    const std::string second = "GET / HTTP/1.1\r\nHost: a\r\nX: a2\r\nX: real\r\n\r\n";
    EXPECT_EQ(box.judge(client(first), test::kStart).reason, Reason::WithinLimits);
    EXPECT_EQ(box.judge(client(second, length(first)), test::kStart).reason, Reason::OverLimit);
}

// A program behind CGI, WSGI or PHP reads a header by either name.
TEST(ServiceRepeats, AHeaderWithUnderscoresIsChargedToo) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{
        "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and "
        "l4.dport eq 80', mode: enforce, checksums: trust}\nrules:\n  - {id: k, mode: enforce, "
        "key: ['http.request.headers[\"x-api-key\"]'], per: request, limits: [{algorithm: "
        "fixed_window, count: 1, window: 1h}]}\n"};
    box.find_units_by(parser.finder());
    for (const test::Frame& frame : {test::syn(), test::syn_ack(), client("")}) {
        (void)box.judge(frame, test::kStart);
    }
    std::uint32_t at = 0;
    const auto judge = [&](const std::string& lines) {
        const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n";
        const Reason reason = box.judge(client(head, at), test::kStart).reason;
        at += length(head);
        return reason;
    };
    EXPECT_EQ(judge("X_Api_Key: real\r\n"), Reason::WithinLimits);
    EXPECT_EQ(judge("X-Api-Key: a\r\n"), Reason::WithinLimits);
    EXPECT_EQ(judge("X-Api.Key: real\r\nX-Api-Key: b\r\n"), Reason::OverLimit);
    EXPECT_EQ(judge("X!Api~Key: b\r\n"), Reason::WithinLimits);
    EXPECT_EQ(judge("X|Api+Key: real\r\n"), Reason::OverLimit);
}

// Authors of such programs write its name as these know it.
TEST(ServiceRepeats, AHeaderWithHyphensIsOneThatTheRuleNamesWithUnderscores) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{
        "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and "
        "l4.dport eq 80', mode: enforce, checksums: trust}\nrules:\n  - {id: k, mode: enforce, "
        "key: ['http.request.headers[\"x_api_key\"]'], per: request, limits: [{algorithm: "
        "fixed_window, count: 1, window: 1h}]}\n  - {id: d, mode: enforce, when: "
        "'http.request.headers[\"a-b\"] eq \"1\" and not http.request.headers[\"a_b\"] eq \"2\"', "
        "on_match: drop}\n"};
    box.find_units_by(parser.finder());
    for (const test::Frame& frame : {test::syn(), test::syn_ack(), client("")}) {
        (void)box.judge(frame, test::kStart);
    }
    std::uint32_t at = 0;
    const auto judge = [&](const std::string& lines) {
        const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n";
        const Reason reason = box.judge(client(head, at), test::kStart).reason;
        at += length(head);
        return reason;
    };
    EXPECT_EQ(judge("X-Api-Key: real\r\n"), Reason::WithinLimits);
    EXPECT_EQ(judge("X-Api-Key: real\r\n"), Reason::OverLimit);
    EXPECT_EQ(judge("X_Api_Key: a\r\nX-Api-Key: real\r\n"), Reason::OverLimit);
    EXPECT_EQ(judge("X_Api_Key: a\r\n"), Reason::WithinLimits);
    EXPECT_EQ(judge("X-Api-Kez: real\r\nXxApi-Key: real\r\n"), Reason::Unmatched);
    // Each is the other, too, where rules name both.
    EXPECT_EQ(judge("A_B: 1\r\n"), Reason::DenyRule);
    EXPECT_EQ(judge("A-B: 3\r\nA_B: 1\r\n"), Reason::DenyRule);
    EXPECT_EQ(judge("A-B: 2\r\nA_B: 3\r\n"), Reason::Unmatched);
}

// A rule over what servers that decode make of a path.
TEST(ServicePaths, WhatMayStandInAPathIsJudgedEncodedAndNot) {
    for (const OnAmbiguous option : {OnAmbiguous::Refuse, OnAmbiguous::Both}) {
        UnitBudget budget = capture_unit_budget();
        budget.on_ambiguous = option;
        UnitParser parser{budget};
        test::Box box{
            "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and "
            "l4.dport eq 80', mode: enforce, checksums: trust}\nrules:\n  - {id: d, mode: enforce, "
            "when: 'http.request.uri.path in {\"/v1/users:login\" \"/c%3Ad\"}', on_match: drop}\n"};
        box.find_units_by(parser.finder());
        std::uint16_t port = 1;
        for (const char* target :
             {"/v1/users:login", "/v1/users%3Alogin", "/v1/./users%3alogin", "/c%3ad", "/c%3Ad"}) {
            ++port;
            for (const test::Frame& frame :
                 {test::syn().sport(port), test::syn_ack().dport(port), client("").sport(port)}) {
                (void)box.judge(frame, test::kStart);
            }
            const std::string text = "GET " + std::string{target} + " HTTP/1.1\r\nHost: a\r\n\r\n";
            EXPECT_EQ(box.judge(client(text).sport(port), test::kStart).reason, Reason::DenyRule)
                << target;
        }
    }
}

// Once for its connection, whatever comes behind.
TEST(ServiceUnreadable, IsCountedWhereItPasses) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{kPasses};
    box.find_units_by(parser.finder());
    const auto unread = [&] { return parser.service_connections().of(ConnectionEvent::Unread); };
    for (std::uint16_t port = 1; port <= 3; ++port) {
        for (const test::Frame& frame :
             {test::syn().sport(port), test::syn_ack().dport(port), client("").sport(port)}) {
            EXPECT_TRUE(forwards(box.judge(frame, test::kStart).verdict));
        }
        EXPECT_EQ(unread(), port - 1U) << "nothing has come of it";
        for (std::uint32_t at : {0U, 100U, 200U}) {
            const Decision decision =
                box.judge(client(unreadable(100), at).sport(port), test::kStart);
            EXPECT_EQ(decision.reason, Reason::Unmatched);
        }
        EXPECT_EQ(unread(), port);
    }
    EXPECT_EQ(box.counters(0).admitted.read(), 0U);
}

class ServiceRequest : public testing::TestWithParam<Case> {};

void expect(const Case& row, OnAmbiguous on_ambiguous) {
    UnitBudget budget = capture_unit_budget();
    budget.on_ambiguous = on_ambiguous;
    UnitParser parser{budget};
    test::Box box{row.rules};
    box.find_units_by(parser.finder());
    test::expect_steps(box, row);
}

TEST_P(ServiceRequest, Holds) {
    expect(GetParam(), OnAmbiguous::Refuse);
}
INSTANTIATE_TEST_SUITE_P(All, ServiceRequest, testing::ValuesIn(kCases));

class ServiceReading : public testing::TestWithParam<Case> {};

TEST_P(ServiceReading, Holds) {
    expect(GetParam(), OnAmbiguous::Both);
}
INSTANTIATE_TEST_SUITE_P(All, ServiceReading, testing::ValuesIn(kReadings));

// A connection whose client has begun a body in chunks.
struct Upload {
    Upload() {
        box.find_units_by(parser.finder());
        for (const test::Step& step : opened({{0ms, client(kChunked), "pass", "unmatched"}})) {
            EXPECT_EQ(reason(step.in), step.reason);
        }
    }
    std::string reason(const test::Frame& frame) {
        return std::string{row_of(box.judge(frame, test::kStart).reason).name};
    }

    UnitParser parser{capture_unit_budget()};
    test::Box box{kEnforced};
};

// An upload in more chunks than are compared: it waits for its server, and all of it passes.
TEST(ServiceChunks, BeyondThoseThatAreKeptTheServerHasToAcknowledge) {
    Upload upload;
    const std::string chunk = "5\r\nhello\r\n";
    std::uint32_t at = length(kChunked);
    std::uint32_t sent = 0;
    for (; upload.reason(client(chunk, at)) == "unmatched"; ++sent) {
        at += length(chunk);
    }
    // Each chunk has its line, and what ends its data: two pieces while there is room, then one.
    constexpr std::size_t kApart = (FramingBytes::kKept - FramingBytes::kFreeBehindSeveral) / 2;
    EXPECT_EQ(sent, kApart + FramingBytes::kKept - 2 * kApart);
    EXPECT_EQ(upload.reason(client(chunk, at)), "no_head_room");
    EXPECT_EQ(upload.reason(server("", 0, at)), "unmatched");
    EXPECT_EQ(upload.reason(client(chunk, at)), "unmatched");
    EXPECT_EQ(upload.reason(client("0\r\n\r\n" + kLogin, at)), "overlap");
    EXPECT_EQ(upload.reason(client("0\r\n\r\n" + kLogin, at + length(chunk))), "within_limits");
}

// One source leaves half a chunk on each of many connections: an upload whose chunk its server has
// lost goes on, since it is the source's own that make room.
TEST(ServiceChunks, HalfChunksOfOneSourceTakeNobodysLines) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{kEnforced};
    box.find_units_by(parser.finder());
    const auto reason = [&](const test::Frame& frame) {
        return std::string{row_of(box.judge(frame, test::kStart).reason).name};
    };
    constexpr std::string_view kOther = "203.0.113.7";
    for (const test::Frame& frame : {test::syn(), test::syn_ack(), client("")}) {
        (void)reason(frame);
    }
    const std::string chunk = "5\r\nhello\r\n";
    EXPECT_EQ(reason(client(kChunked)), "unmatched");
    EXPECT_EQ(reason(server("", 0, length(kChunked))), "unmatched");
    EXPECT_EQ(reason(client(chunk, length(kChunked))), "unmatched");
    constexpr std::uint16_t kMany = 900;  // for 512 blocks
    for (std::uint16_t port = 1; port <= kMany; ++port) {
        (void)reason(test::syn().src(kOther).sport(port));
        (void)reason(test::syn_ack().dst(kOther).dport(port));
        (void)reason(client("").src(kOther).sport(port));
        EXPECT_EQ(reason(client(kChunked + "5\r\nhe").src(kOther).sport(port)), "unmatched");
    }
    EXPECT_EQ(reason(client(chunk, length(kChunked))), "unmatched") << "its server has lost it";
    EXPECT_EQ(reason(client("0\r\n\r\n" + kLogin, length(kChunked))), "overlap");
}

// Segments of an upload in the order of a bad path, more of them than are told apart: what its
// server has lost comes again, in any cut, also once the upload is whole.
TEST(ServiceChunks, WhatIsLostOfABodyComesAgainHoweverItCame) {
    constexpr std::uint32_t kSize = 1000;
    constexpr std::uint32_t kSegments = 14;
    const std::string body = "36a6\r\n" + std::string(kSegments * kSize - 10, 'x') + "\r\n";
    ASSERT_EQ(body.size(), kSegments * kSize - 2);
    for (const bool is_over : {false, true}) {
        Upload upload;
        const auto part = [&](std::uint32_t at, std::uint32_t size) {
            return client(body.substr(at, size), length(kChunked) + at);
        };
        for (std::uint32_t pair = 1; pair + 1 < kSegments; pair += 2) {
            EXPECT_EQ(upload.reason(part((pair + 1) * kSize, kSize)), "unmatched");
            EXPECT_EQ(upload.reason(part(pair * kSize, kSize)), "unmatched");
        }
        EXPECT_EQ(upload.reason(part(0, kSize)), "unmatched");
        EXPECT_EQ(upload.reason(part((kSegments - 1) * kSize, kSize)), "unmatched");
        if (is_over) {
            EXPECT_EQ(upload.reason(client("0\r\n\r\n", length(kChunked) + length(body))),
                      "unmatched");
        }
        EXPECT_EQ(upload.reason(part(kSize, kSize)), "unmatched");
        EXPECT_EQ(upload.reason(part(2 * kSize + 7, 900)), "unmatched");
        EXPECT_EQ(upload.reason(part(0, 2 * kSize)), "unmatched");
        EXPECT_EQ(upload.reason(client("0" + body.substr(1, 10), length(kChunked))), "overlap");
    }
}

}  // namespace
}  // namespace sluice::service_requests_test
