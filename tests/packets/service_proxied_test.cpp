#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/asking_workers.hpp"
#include "tests/packets/service_dialogue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

// Services behind proxies that begin connections with a header of the PROXY protocol: whose
// requests they are, and what becomes of connections that begin otherwise.
namespace sluice::test::service_proxied_test {
namespace {

using namespace std::string_literals;

#define PROXIED(more)                                                                     \
    "services:\n  - {id: web, protocol: http, when: ip.dst eq 192.0.2.1 and l4.dport eq " \
    "80, checksums: trust, " more ", proxy_protocol: {from: 10.0.0.0/24}}\n"
#define ONE_REQUEST "limits: [{algorithm: fixed_window, count: 1, window: 1h}]"
#define EACH \
    "rules:\n  - {id: each, mode: enforce, key: [client.ip], per: request, " ONE_REQUEST "}\n"
#define ENFORCED "version: 1\n" PROXIED("mode: enforce")

constexpr std::string_view kEach = ENFORCED EACH;

std::string line(std::string_view client) {
    return "PROXY TCP4 " + std::string{client} + " 192.0.2.1 5000 80\r\n";
}
// Version 2: the client 192.0.2.200, port 5000, and so many bytes of vectors.
std::string binary(std::size_t vectors = 0, char command = '\x21') {
    const std::size_t size = 12 + vectors;
    std::string header = "\r\n\r\n\0\r\nQUIT\n"s + command + '\x11';
    header += static_cast<char>(size >> 8);
    header += static_cast<char>(size);
    header += "\xC0\0\x02\xC8\xC0\0\x02\x01\x13\x88\0\x50"s;
    header.append(vectors, '\x04');
    return header;
}
std::uint32_t size_of(const std::string& text) {
    return static_cast<std::uint32_t>(text.size());
}

const std::string kA = line("198.51.100.1");
const std::uint32_t kASize = size_of(kA);
const std::string kUnknown = "PROXY UNKNOWN\r\n";

// A segment as it is on the connection of another port of the proxy, or of another sender.
Frame at_port(Frame frame, std::uint16_t port) {
    return frame.dir() == Direction::In ? frame.sport(port) : frame.dport(port);
}
std::vector<Step> at_port(std::uint16_t port, std::vector<Step> steps) {
    for (Step& step : steps) {
        step.in = at_port(step.in, port);
    }
    return steps;
}
std::vector<Step> by(std::string_view sender, std::vector<Step> steps) {
    for (Step& step : steps) {
        step.in = step.in.dir() == Direction::In ? step.in.src(sender) : step.in.dst(sender);
    }
    return steps;
}
std::vector<Step> together(std::vector<std::vector<Step>> all) {
    std::vector<Step> steps;
    for (const std::vector<Step>& some : all) {
        steps.insert(steps.end(), some.begin(), some.end());
    }
    return steps;
}
Step refused(Frame frame) {
    return {0ms, frame, "drop", "over_limit", "each", Nanoseconds{1h}};
}
Step admitted(Frame frame) {
    return {0ms, frame, "pass", "within_limits"};
}
Step passed(Frame frame) {
    return {0ms, frame, "pass", "unmatched"};
}
Step unreadable(Frame frame) {
    return {0ms, frame, "drop", "unreadable"};
}

// A body that ends where the connection's first number comes again, and a request behind it.
std::vector<Step> behind_all_numbers() {
    const std::string post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ";
    constexpr std::size_t kDigits = 10;
    const std::uint64_t body =
        (std::uint64_t{1} << 32) - kASize - size_of(post) - kDigits - std::size_t{4};
    std::vector<Step> steps{passed(syn()), passed(client("")),
                            admitted(client(kA + post + std::to_string(body) + "\r\n\r\n"))};
    // No further ahead at once than one way may tell.
    for (std::uint32_t part = 1; part < 128; ++part) {
        steps.push_back(passed(client("x", part << 25)));
    }
    steps.push_back(passed(client("x", 0xFFFF'FFFF)));
    steps.push_back(refused(client(kLogin)));
    return steps;
}

const Case kCases[] = {
    {"a header is looked for at the first byte, not at a later one of its number",
     "version: 1\n" PROXIED("mode: enforce, path: inbound") EACH, behind_all_numbers()},

    {"each client behind a proxy has a limit of its own, on whichever connection", kEach,
     together({opened({admitted(client(kA + kLogin))}),
               at_port(40'001, opened({admitted(client(line("198.51.100.2") + kLogin))})),
               at_port(40'002, opened({refused(client(kA + kLogin))}))})},

    {"the second request of a connection is the same client's", kEach,
     opened({admitted(client(kA + kLogin)), passed(server("", 0, kASize + kLoginSize)),
             refused(client(kLogin, kASize + kLoginSize))})},

    {"a header that comes alone is no request", kEach,
     opened({passed(client(kA)), passed(server("", 0, kASize)), admitted(client(kLogin, kASize)),
             passed(server("", 0, kASize + kLoginSize)),
             refused(client(kLogin, kASize + kLoginSize))})},

    {"a header in pieces, and the request behind it", kEach,
     together({opened({passed(client(kA.substr(0, 3))), passed(client(kA.substr(3, 20), 3)),
                       admitted(client(kA.substr(23) + kLogin, 23))}),
               at_port(40'001, opened({passed(client(kA.substr(0, kASize - 1))),
                                       refused(client("\n" + kLogin, kASize - 1))}))})},

    {"the request comes before the header does", kEach,
     opened({passed(client(kLogin, kASize)), admitted(client(kA)),
             passed(server("", 0, kASize + kLoginSize)),
             refused(client(kLogin, kASize + kLoginSize))})},

    {"version 2, with and without vectors", kEach,
     together({opened({admitted(client(binary() + kLogin))}),
               at_port(40'001, opened({refused(client(binary(300) + kLogin))})),
               at_port(40'002, opened({passed(client(binary(900).substr(0, 500))),
                                       refused(client(binary(900).substr(500) + kLogin, 500))}))})},

    {"a proxy's own connection, and one without an address, is of who made it", kEach,
     together({opened({admitted(client(binary(0, '\x20') + kLogin))}),
               at_port(40'001, opened({refused(client(kUnknown + kLogin))})),
               by("10.0.0.2", opened({admitted(client(kUnknown + kLogin))}))})},

    {"a client of IPv6", kEach,
     together({opened({admitted(client("PROXY TCP6 2001:db8::1 2001:db8::2 1 2\r\n" + kLogin))}),
               at_port(40'001, opened({refused(client(
                                   "PROXY TCP6 2001:db8:0::1 2001:db8::2 3 4\r\n" + kLogin))}))})},

    {"who is behind a proxy and who is not has one limit", kEach,
     together({by("198.51.100.1", opened({admitted(client(kLogin))})),
               opened({refused(client(kA + kLogin))})})},

    {"a proxy's connection without a header", kEach,
     opened({unreadable(client(kLogin)), unreadable(client(kLogin, kLoginSize))})},

    {"a header that no server takes", kEach,
     together({opened({unreadable(client("PROXY TCP4 198.51.100.1\r\n" + kLogin))}),
               at_port(40'001, opened({unreadable(client(binary(0, '\x22') + kLogin))})),
               at_port(40'002, opened({unreadable(client("PROXY TCP4 " + std::string(120, ' ')))})),
               at_port(40'003, opened({unreadable(client(binary(4096).substr(0, 600)))}))})},

    {"a stranger's header, of either version", kEach,
     together({by("10.0.1.1", opened({unreadable(client(kA + kLogin))})),
               by("10.0.1.2", opened({unreadable(client(binary() + kLogin))}))})},

    {"a second header is none", kEach,
     opened({admitted(client(kA + kLogin)), passed(server("", 0, kASize + kLoginSize)),
             unreadable(client(line("198.51.100.9") + kLogin, kASize + kLoginSize))})},

    {"and so is one right behind the first", kEach,
     opened({unreadable(client(kA + line("198.51.100.9") + kLogin))})},

    {"a header that is sent again", kEach,
     opened({passed(client(kA)), passed(client(kA)), admitted(client(kLogin, kASize)),
             passed(client(kA + kLogin)), passed(server("", 0, kASize + kLoginSize)),
             refused(client(kLogin, kASize + kLoginSize))})},

    {"other bytes in its place: the first stand", kEach,
     opened({passed(client(kA)),
             {0ms, client(line("198.51.100.7")), "drop", "overlap"},
             admitted(client(kLogin, kASize)),
             passed(server("", 0, kASize + kLoginSize)),
             refused(client(kLogin, kASize + kLoginSize))})},

    {"and in the place of half a header", kEach,
     opened({passed(client(kA.substr(0, 20))),
             {0ms, client("PROXY TCP4 203.0.113.9 192.0.2.1 5000 80\r\n" + kLogin), "drop",
              "overlap"}})},

    {"a connection that the box did not see begin has no client",
     kEach,
     {passed(client(kLogin)), passed(client(kLogin, kLoginSize))}},

    {"unless rules are to share such packets",
     ENFORCED "rules:\n  - {id: each, mode: enforce, key: [client.ip], missing_key: share, per: "
              "request, " ONE_REQUEST "}\n",
     {passed(client(kLogin)), passed(server("")), admitted(client(kLogin)),
      passed(server("", 0, kLoginSize)), refused(client(kLogin, kLoginSize))}},

    {"a request after minutes of silence is the client's", kEach,
     opened({admitted(client(kA + kLogin)),
             passed(server("", 0, kASize + kLoginSize)),
             {14min, client(kLogin, kASize + kLoginSize), "drop", "over_limit", "each",
              Nanoseconds{46min}}})},

    {"all packets behind the header are the client's, of whatever layer their limits are",
     ENFORCED "rules:\n  - {id: each, mode: enforce, when: 'dir eq \"in\"', key: [client.ip], "
              "limits: [{algorithm: "
              "fixed_window, count: 3, window: 1h}]}\n",
     together({opened({admitted(client(kA)), admitted(client("", kASize)),
                       admitted(client("GET / HT", kASize)),
                       refused(client("TP/1.1\r\nHost: a\r\n\r\n", kASize + 8))}),
               at_port(40'001, opened({admitted(client(line("198.51.100.2")))}))})},

    {"conditions see the client",
     ENFORCED "rules:\n  - {id: bad, mode: enforce, when: 'client.ip eq 198.51.100.1', on_match: "
              "drop}\n  - {id: box, mode: enforce, when: 'client.ip in {10.0.0.0/8}', on_match: "
              "drop}\n",
     together({opened({{0ms, client(kA + kLogin), "drop", "deny_rule", "bad"}}),
               at_port(40'001, opened({passed(client(line("198.51.100.2") + kLogin))})),
               at_port(40'002,
                       opened({{0ms, client(kUnknown + kLogin), "drop", "deny_rule", "box"}}))})},

    {"no rule asks for clients: requests behind the header are counted all the same",
     ENFORCED "rules:\n  - {id: each, mode: enforce, key: [ip.src], per: request, " ONE_REQUEST
              "}\n",
     together({opened({admitted(client(kA + kLogin))}),
               at_port(40'001, opened({refused(client(line("198.51.100.2") + kLogin))}))})},

    {"several requests behind one header",
     ENFORCED "rules:\n  - {id: each, mode: enforce, key: [client.ip], per: request, limits: "
              "[{algorithm: fixed_window, count: 3, window: 1h}]}\n",
     together({opened({admitted(client(kA + kLogin + kLogin))}),
               at_port(40'001, opened({admitted(client(kA + kLogin))})),
               at_port(40'002, opened({refused(client(kA + kLogin))}))})},

    {"what a service in monitor would refuse passes", "version: 1\n" PROXIED("mode: monitor") EACH,
     together({opened({admitted(client(kA + kLogin))}),
               at_port(40'001, opened({refused(client(kA + kLogin))})),
               at_port(40'002, opened({passed(client(kLogin))})),
               at_port(40'003, opened({passed(client("PROXY TCP9 \r\n" + kLogin))}))})},

    {"one that counts what it cannot read",
     "version: 1\n" PROXIED(
         "mode: enforce, on_unreadable: count") "rules:\n  - {id: each, mode: enforce, key: "
                                                "[ip.src], per: request, " ONE_REQUEST "}\n",
     opened({admitted(client(kLogin)), refused(client(kLogin, kLoginSize))})},

    {"one that lets pass what it cannot read",
     "version: 1\n" PROXIED("mode: enforce, on_unreadable: pass") EACH,
     opened({passed(client(kLogin)), passed(client(kLogin, kLoginSize))})},

    {"where only clients' segments come this way",
     "version: 1\n" PROXIED("mode: enforce, path: inbound") EACH,
     together(
         {{passed(syn()), passed(client("")), admitted(client(kA + kLogin)),
           refused(client(kLogin, kASize + kLoginSize, 100))},
          at_port(40'001, {passed(syn()), passed(client("")), refused(client(kA + kLogin))})})},

    {"a client that is a trusted proxy itself names those behind it",
     "version: 1\nclient_ip: {trusted_proxies: [198.51.100.1], from: {header: "
     "x-forwarded-for}}\n" PROXIED("mode: enforce") EACH,
     together(
         {opened({admitted(client(kA + "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: "
                                       "203.0.113.1\r\n\r\n"))}),
          at_port(40'001, opened({admitted(client(kA + "GET / HTTP/1.1\r\nHost: "
                                                       "a\r\nX-Forwarded-For: "
                                                       "203.0.113.2\r\n\r\n"))})),
          at_port(40'002, opened({admitted(client(line("203.0.113.3") +
                                                  "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: "
                                                  "203.0.113.2\r\n\r\n"))})),
          by("203.0.113.1", opened({refused(client(kLogin))}))})},

    {"a trusted proxy that begins connections with headers is believed for these alone",
     "version: 1\nclient_ip: {trusted_proxies: [10.0.0.1], from: {header: "
     "x-forwarded-for}}\n" PROXIED("mode: enforce") EACH,
     together({opened({admitted(client(kA + "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: "
                                            "203.0.113.1\r\n\r\n"))}),
               at_port(40'001, opened({refused(client(kA + "GET / HTTP/1.1\r\nHost: "
                                                           "a\r\nX-Forwarded-For: "
                                                           "203.0.113.2\r\n\r\n"))})),
               // Its own connections are a trusted proxy's.
               at_port(40'002, opened({refused(client(
                                   kUnknown + "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: "
                                              "198.51.100.1\r\n\r\n"))}))})},
};

class ServiceProxiedCases : public testing::TestWithParam<Case> {};

TEST_P(ServiceProxiedCases, Table) {
    UnitParser parser{capture_unit_budget()};
    Box box{GetParam().rules};
    box.find_units_by(parser.finder());
    expect_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, ServiceProxiedCases, testing::ValuesIn(kCases));

// A box with a parser of its own.
struct ProxiedBox {
    explicit ProxiedBox(std::string_view rules) : box{rules} { box.find_units_by(parser.finder()); }
    void open(std::uint16_t port = 40'000) {
        for (const Frame& frame : {syn(), syn_ack(), client("")}) {
            (void)box.judge(at_port(frame, port), kStart);
        }
    }
    [[nodiscard]] std::uint64_t counted(UnitEvent event) const {
        return box.counters().by_unit_event[static_cast<std::size_t>(event)].read();
    }

    UnitParser parser{capture_unit_budget()};
    Box box;
};

TEST(ServiceProxied, HeadersAreCounted) {
    ProxiedBox proxied{kEach};
    for (std::uint16_t port = 1; port <= 4; ++port) {
        proxied.open(port);
    }
    (void)proxied.box.judge(client(kA + kLogin).sport(1), kStart);
    EXPECT_EQ(proxied.counted(UnitEvent::ProxyHeader), 1U);
    (void)proxied.box.judge(client(kLogin).sport(2), kStart);
    EXPECT_EQ(proxied.counted(UnitEvent::ProxyHeaderMissing), 1U);
    (void)proxied.box.judge(client("PROXY TCP4 a b\r\n").sport(3), kStart);
    EXPECT_EQ(proxied.counted(UnitEvent::ProxyHeaderMalformed), 1U);
    EXPECT_EQ(proxied.counted(UnitEvent::ProxyHeaderUnseen), 0U);
    for (const Frame& frame :
         {client(kLogin).sport(5), server("").dport(5), client(kLogin).sport(5)}) {
        (void)proxied.box.judge(frame, kStart);
    }
    EXPECT_EQ(proxied.counted(UnitEvent::ProxyHeaderUnseen), 1U) << "of a connection under way";
    EXPECT_EQ(proxied.counted(UnitEvent::ProxyHeader), 1U);
}

// In the burst of the header, what comes behind it has its client already.
TEST(ServiceProxied, ClientsAreKnownWithinABurst) {
    ProxiedBox proxied{ENFORCED
                       "rules:\n  - {id: each, mode: enforce, when: 'client.ip eq 198.51.100.1', "
                       "key: [client.ip], limits: [{algorithm: fixed_window, count: 9, window: "
                       "1h}]}\n"};
    proxied.open();
    const std::vector<Decision> decisions =
        proxied.box.judge_burst({client(kA.substr(0, 9)).bytes(), client(kA.substr(9), 9).bytes(),
                                 client("", kASize).bytes(), client(kLogin, kASize).bytes(),
                                 client(kLogin + kLogin, kASize + kLoginSize).bytes()},
                                kStart);
    const std::array<std::string_view, 5> reasons{"unmatched", "within_limits", "within_limits",
                                                  "within_limits", "within_limits"};
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        EXPECT_EQ(row_of(decisions[i].reason).name, reasons[i]) << i;
    }
}

// A request that waits for the owner of its client's bucket has the same client when it is its
// turn.
TEST(ServiceProxied, ClientsOfRequestsThatWaitStayTheirs) {
    AskingWorkers workers{"version: 1\n" PROXIED("mode: enforce, path: inbound") EACH, 4};
    const auto send = [&](std::uint16_t port, const std::string& text) {
        for (const Frame& frame : {syn(), client("")}) {
            (void)workers.judge(0, at_port(frame, port).bytes(), kStart);
        }
        const std::size_t number = workers.send(0, {at_port(client(text), port).bytes()}, kStart);
        workers.settle(kStart);
        EXPECT_TRUE(workers.sent()[number].decided);
        return workers.sent()[number].decision.reason;
    };
    std::uint16_t port = 1;
    for (int i = 1; i < 40; ++i) {
        const std::string header = line("198.51.100." + std::to_string(i));
        EXPECT_EQ(send(port++, header + kLogin), Reason::WithinLimits) << i;
        EXPECT_EQ(send(port++, header + kLogin), Reason::OverLimit) << i;
    }
}

}  // namespace
}  // namespace sluice::test::service_proxied_test
#undef ENFORCED
#undef EACH
#undef ONE_REQUEST
#undef PROXIED
