#include "lib/l7/stream/unit_parser.hpp"
#include "lib/respond/act/act_burst.hpp"
#include "tests/packets/service_dialogue.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

// A service that monitors: frames leave byte for byte as they came, and what it would refuse is
// counted by reason.
namespace sluice::service_monitor_test {
namespace {

using namespace std::chrono_literals;
using test::client;
using test::Frame;
using test::kAck;
using test::kClientIss;
using test::kFin;
using test::kLogin;
using test::kLoginSize;
using test::kRst;
using test::kServerIss;
using test::kUrg;
using test::Octets;
using test::server;
using test::syn;
using test::syn_ack;

std::string rules(std::string_view mode, std::string_view options = "checksums: trust") {
    return "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and "
           "l4.dport eq 80', mode: " +
           std::string{mode} + ", " + std::string{options} +
           "}\nrules:\n  - {id: posts, mode: enforce, when: 'http.request.method eq \"POST\"', "
           "key: [ip.src], per: request, limits: [{algorithm: fixed_window, count: 9, window: "
           "1h}]}\n";
}

Octets option(const std::vector<unsigned>& octets) {
    Octets bytes;
    for (const unsigned octet : octets) {
        test::put8(bytes, octet);
    }
    return bytes;
}
const Octets kUnknown = option({253, 4, 1, 2});
const Octets kSignature = option({19, 18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1});

// A box through which frames go out as they leave its worker.
class Wire {
public:
    explicit Wire(std::string_view rules) : box_{rules} {
        box_.find_units_by(parser_.finder());
        burst_.find_units_by(parser_.finder());
    }
    // Its bytes behind the box; none: it was dropped.
    Octets take(const Frame& frame, Instant now = test::kStart) {
        Octets bytes = frame.bytes();
        burst_.clear();
        (void)burst_.add({bytes, static_cast<std::uint32_t>(bytes.size())}, frame.dir(),
                         port_name(frame.pair()));
        box_.run(burst_, now);
        Sink sink{bytes};
        act_burst(burst_, box_.set().actions, sink);
        return sink.is_forwarded ? bytes : Octets{};
    }
    void open(Instant now = test::kStart) {
        for (Frame frame : {syn(), syn_ack(), client("")}) {
            EXPECT_FALSE(take(frame.summed(), now).empty());
        }
    }
    [[nodiscard]] std::uint64_t would_refuse(Reason reason) {
        return box_.counters().would_refuse[static_cast<std::size_t>(reason)].read();
    }

private:
    struct Sink {
        Octets& bytes;
        bool is_forwarded = false;

        void forward(std::size_t /*row*/) noexcept { is_forwarded = true; }
        void drop(std::size_t /*row*/) noexcept {}
        template <typename Write>
        [[nodiscard]] bool rewrite(std::size_t /*row*/, Write&& write) noexcept {
            write(MutableBytes{bytes});
            return true;
        }
        template <typename Write>
        [[nodiscard]] bool emit(std::size_t /*row*/, Toward /*side*/, std::size_t /*size*/,
                                Write&& /*write*/) noexcept {
            ADD_FAILURE() << "nobody answers";
            return true;
        }
    };

    UnitParser parser_{capture_unit_budget()};
    test::Box box_;
    Burst burst_;
};

struct Row {
    const char* name;
    Frame frame;
    bool is_opened = true;
    std::string_view options = "checksums: trust";
};
const std::string kAsksForHttp2 =
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    "HTTP2-Settings: AAMAAABk\r\n\r\n";

// Frames that a service which enforces changes, or drops.
const Row kRows[] = {
    {"urgent data", client(kLogin).flags(kAck | kUrg)},
    {"an option of an unknown kind", client(kLogin).tcp_options(kUnknown)},
    {"a SYN with one", syn(kClientIss + 77).tcp_options(kUnknown), false},
    {"a small TTL", client(kLogin).ttl(2)},
    {"all of these", client(kLogin).flags(kAck | kUrg).tcp_options(kUnknown).ttl(1)},
    {"a small TTL behind a wrong checksum", client(kLogin).ttl(2).summed(1)},
    {"a request for HTTP/2", client(kAsksForHttp2), true, "checksums: trust, h2c: strip"},
    {"one that is refused", client(kAsksForHttp2)},
    {"a segment of a connection that nobody knows", client("\x01 abc", 100, 50), false},
    {"a request there", client(kLogin, 100, 50), false},
    {"half a request there", client("GET /l", 100, 50), false},
    {"a wrong checksum", client(kLogin).summed(1), true, "checksums: verify"},
    {"an unfinished checksum", client(kLogin).unfinished(), true, "checksums: verify"},
    {"what is no request", client("\x16\x03\x01 hello\r\n\r\n")},
    {"data beyond the window", client(kLogin, 900'000)},
    {"data without ACK", client(kLogin).flags(0x08)},
    {"a RST out of the window", client("", 900'000).flags(kRst)},
    {"a fragment", client(kLogin).frag(0, true)},
    {"a signature of RFC 2385", client(kLogin).tcp_options(kSignature)},
};

TEST(ServiceMonitor, LeavesEveryFrameByteForByteAsItCame) {
    for (const Row& row : kRows) {
        SCOPED_TRACE(row.name);
        const Octets came = row.frame.bytes();
        for (const std::string_view mode : {"monitor", "enforce"}) {
            Wire wire{rules(mode, row.options)};
            if (row.is_opened) {
                wire.open();
            }
            EXPECT_EQ(wire.take(row.frame) == came, mode == "monitor") << mode;
        }
    }
}

struct Refused {
    const char* name;
    Reason reason;
    std::vector<Frame> before;  // behind the handshake
    Frame frame;
    Nanoseconds later{};
    bool is_opened = true;
};
const Refused kRefused[] = {
    {"a fragment of TCP", Reason::TcpFragment, {}, client(kLogin).frag(0, true)},
    {"bytes behind a RST", Reason::BehindEnd, {client("").flags(kRst)}, client(kLogin)},
    {"bytes behind a FIN", Reason::BehindEnd, {client("").flags(kFin | kAck)}, client(kLogin, 1)},
    {"a SYN-ACK that nobody asked for",
     Reason::BadHandshake,
     {syn()},
     syn_ack(kServerIss, kClientIss + 5),
     {},
     false},
    {"a connection that nobody knows, behind the grace",
     Reason::Midstream,
     {client("", 7).sport(7)},
     client("\x01 abc", 100, 50),
     2min,
     false},
    {"a signature of RFC 2385",
     Reason::DoubtfulOptions,
     {},
     client(kLogin).tcp_options(kSignature)},
    {"other bytes in the place of a head's",
     Reason::Overlap,
     {client("GET /index HTTP/1.1\r\nHost"), client(kLogin.substr(15), 15)},
     client(kLogin.substr(0, 15))},
};

TEST(ServiceMonitor, CountsWhatItWouldRefuseByReason) {
    for (const Refused& row : kRefused) {
        SCOPED_TRACE(row.name);
        for (const std::string_view mode : {"monitor", "enforce"}) {
            Wire wire{rules(mode)};
            if (row.is_opened) {
                wire.open();
            }
            for (const Frame& frame : row.before) {
                EXPECT_FALSE(wire.take(frame).empty()) << mode;
            }
            EXPECT_EQ(wire.would_refuse(row.reason), 0U) << mode;
            EXPECT_EQ(wire.take(row.frame, test::kStart + row.later).empty(), mode == "enforce");
            EXPECT_EQ(wire.would_refuse(row.reason), mode == "monitor" ? 1U : 0U) << mode;
        }
    }
}

}  // namespace
}  // namespace sluice::service_monitor_test
