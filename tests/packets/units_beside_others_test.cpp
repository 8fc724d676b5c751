#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/frame.hpp"
#include "tests/rounds.hpp"
#include "tests/unit/l7/hello_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Requests, hellos and questions are found, counted and judged alike whatever packets come between
// them: a box that is sent them alone is asked beside one that is sent others, too.
namespace sluice::units_beside_others_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::Frame;
using test::Octets;

#define RULES "version: 1\nrules:\n"
#define RULE(id, rest) "  - {id: " id ", mode: enforce, " rest "}\n"
#define BUCKET(rate, burst) "limits: [{algorithm: token_bucket, rate: " rate ", burst: " burst "}]"

struct Row {
    const char* name;
    const char* rules;
    std::size_t counted = 0;  // the rule that only packets with units meet
};
// No rule refuses what carries no unit, or charges it to the key of one that does.
constexpr Row kRows[] = {
    {"requests", RULES RULE("r", "key: [ip.src, http.host], per: request, " BUCKET("10/s", "9"))},
    {"requests and every packet",
     RULES RULE("r", "key: [ip.src, http.host], per: request, " BUCKET("10/s", "9"))
         RULE("p", "key: [ip.src], " BUCKET("10M/s", "1G"))},
    {"requests to a port",
     RULES RULE("r", "when: l4.dport eq 80, key: [http.request.uri.path], per: request, " BUCKET(
                         "10/s", "9"))
         RULE("u", "when: ip.proto eq 17, key: [l4.dport], " BUCKET("10M/s", "1G"))},
    {"all protocols", RULES RULE("r", "key: [http.host], per: request, " BUCKET("20/s", "20"))
                          RULE("h", "key: [tls.sni], per: handshake, " BUCKET("20/s", "20"))
                              RULE("q", "key: [dns.qname], per: query, " BUCKET("20/s", "20"))},
    {"texts that are dropped",
     RULES RULE("t",
                "when: 'http.request.uri.path contains \"/3\" or tls.sni contains \"3\" or "
                "dns.qname contains \"3\"', on_match: drop")
         RULE("r", "key: [http.host], per: request, " BUCKET("20/s", "20"))},
    {"by the general path",
     RULES RULE("r",
                "key: [http.host], per: request, limits: [{algorithm: sliding_log, count: 9, "
                "window: 1s}]")
         RULE("c", "key: [ip.src], limits: [{algorithm: concurrency, count: 100000, idle: 60s}]")},
    {"behind a budget",
     "version: 1\nbypass:\n  - {when: ip.proto eq 17, key: [ip.src], limit: {algorithm: "
     "token_bucket, rate: 1/s, burst: 1}}\nrules:\n" RULE(
         "r", "key: [http.host], per: request, " BUCKET("20/s", "20")),
     1},
};

constexpr std::array kCounted{UnitEvent::HttpRequest, UnitEvent::TlsHello, UnitEvent::DnsQuery};

Octets octets(std::string_view text) {
    return test::message_octets(text);
}

// One client's connection, whose bytes go out in segments, in order.
class Client {
public:
    Client(unsigned number, std::uint16_t port, std::mt19937& random)
        : number_{number}, port_{port}, next_{static_cast<std::uint32_t>(random())} {}

    // The connection's SYN comes first.
    [[nodiscard]] Octets open() {
        is_open_ = true;
        return segment({}, 0x02);
    }
    [[nodiscard]] bool is_open() const { return is_open_; }
    [[nodiscard]] Octets segment(const Octets& bytes, std::uint16_t flags = 0x18) {
        const Octets frame = at_next().flags(flags).carries(bytes).bytes();
        next_ += static_cast<std::uint32_t>(bytes.size()) + (flags & 0x2U ? 1U : 0U);
        return frame;
    }
    [[nodiscard]] Octets bare_ack() const { return at_next().bytes(); }

private:
    [[nodiscard]] Frame at_next() const {
        const bool is_v6 = number_ % 5 == 4;
        Frame frame = test::tcp();
        frame.src(is_v6 ? "2001:db8::" + std::to_string(number_)
                        : "10.0.0." + std::to_string(number_ % 250));
        if (number_ % 7 == 3) {
            frame.vlan(5);
        }
        return frame.sport(static_cast<std::uint16_t>(20'000 + number_)).dport(port_).seq(next_);
    }

    unsigned number_;
    std::uint16_t port_;
    std::uint32_t next_;
    bool is_open_ = false;
};

// What is sent to both boxes, and what to one of them only.
struct Sent {
    Octets frame;
    bool is_other = false;
};
struct SentBurst {
    std::vector<Sent> frames;
    Instant at;
};

class Traffic {
public:
    Traffic(unsigned seed, unsigned clients) : random_{seed} {
        for (unsigned number = 0; number < clients; ++number) {
            web_.emplace_back(number, static_cast<std::uint16_t>(80), random_);
            others_.emplace_back(number, static_cast<std::uint16_t>(number % 2 == 0 ? 443 : 2222),
                                 random_);
        }
    }

    // Whole bursts of either, bursts of halves, or any order.
    [[nodiscard]] std::vector<SentBurst> bursts(std::size_t count) {
        std::vector<SentBurst> all(count);
        Instant now{1h};
        const unsigned how = below(4);
        const std::size_t size = how == 3 ? 0 : 1 + below(kMaxBurst);
        for (std::size_t i = 0; i < count; ++i) {
            now += Nanoseconds{below(5) * 1ms};
            all[i].at = now;
            for (std::size_t left = size != 0 ? size : 1 + below(kMaxBurst), all_of = left;
                 left > 0; --left) {
                const bool is_other = how == 0   ? i % 2 == 1
                                      : how == 1 ? left * 2 > all_of
                                                 : below(2) == 1;
                add(all[i].frames, is_other);
            }
        }
        return all;
    }

private:
    [[nodiscard]] unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
    void add(std::vector<Sent>& frames, bool is_other) {
        frames.push_back({is_other ? other() : unit(), is_other});
    }

    // A request or a part of one, a hello of a connection of its own, a question; the SYN of a
    // connection before.
    [[nodiscard]] Octets unit() {
        if (!greeting_.empty()) {
            return std::exchange(greeting_, {});
        }
        if (const unsigned kind = below(8); kind == 0) {
            return hello();
        } else if (kind == 1) {
            return test::udp()
                .src("10.0.1." + std::to_string(below(9)))
                .dport(53)
                .carries(octets(test::dns_query("n" + std::to_string(below(40)) + ".example")))
                .bytes();
        }
        const unsigned number = below(static_cast<unsigned>(web_.size()));
        if (!web_[number].is_open()) {
            return web_[number].open();
        }
        std::string& rest = half_[number % half_.size()];
        if (number >= half_.size()) {
            return web_[number].segment(octets(request() + (below(4) == 0 ? request() : "")));
        }
        // A client whose heads come in pieces.
        rest += rest.empty() ? request() : "";
        const std::string piece = rest.substr(0, 1 + below(static_cast<unsigned>(rest.size())));
        rest.erase(0, piece.size());
        return web_[number].segment(octets(piece));
    }
    [[nodiscard]] std::string request() {
        const bool has_body = below(4) == 0;
        return (has_body ? "POST /" : "GET /") + std::to_string(below(30)) +
               " HTTP/1.1\r\nHost: h" + std::to_string(below(20)) + ".example\r\n" +
               (has_body ? "Content-Length: 4\r\n\r\nbody" : "\r\n");
    }
    [[nodiscard]] Octets hello() {
        const auto sport = static_cast<std::uint16_t>(1024 + hellos_ % 60'000);
        const std::string source = "10.9.0." + std::to_string(++hellos_ / 60'000);
        const std::string name = "s" + std::to_string(below(40)) + ".example";
        const Frame greets = test::tcp()
                                 .src(source)
                                 .sport(sport)
                                 .dport(443)
                                 .seq(hellos_ * 7919)
                                 .carries(test::HelloMaker{}.sni(name).records());
        greeting_ = greets.bytes();
        return greets.opening().bytes();
    }

    [[nodiscard]] Octets other() {
        const std::string source = "10.0.0." + std::to_string(below(250));
        const unsigned number = below(static_cast<unsigned>(web_.size()));
        switch (below(12)) {
            case 0:
                return test::udp().src(source).dport(9999).payload(below(200)).bytes();
            case 1:
            case 2:
                return web_[number].bare_ack();
            case 3:
                return others_[number].segment(octets({"\x17\x03\x03\x00\x20", 5}));
            case 4:
                return others_[number].segment(Octets(1 + below(300), std::byte{0x8F}));
            case 5:
                return test::arp().bytes();
            case 6:
                return test::udp().src(source).ihl(3).bytes();
            case 7:
                return test::udp().src("2001:db8::" + std::to_string(number)).dport(1).bytes();
            case 8:
                return test::tcp()
                    .src(source)
                    .frag(static_cast<std::uint16_t>(1 + below(9)), true)
                    .payload(24)
                    .bytes();
            case 9:
                return test::tcp()
                    .src("10.8.0." + std::to_string(below(250)))
                    .sport(static_cast<std::uint16_t>(below(60'000)))
                    .dport(80)
                    .flags(below(2) == 0 ? 0x02 : 0x11)
                    .bytes();
            case 10:
                return test::udp().src(source).vlan(7).vlan(8, 0x88A8).payload(9).bytes();
            default:
                return test::icmp(8, 0).src(source).bytes();
        }
    }

    std::mt19937 random_;
    std::vector<Client> web_;
    std::vector<Client> others_;
    std::array<std::string, 4> half_;
    unsigned hellos_ = 0;
    Octets greeting_;  // of the connection that was opened last
};

// A worker whose bursts are overlapped, as in the dataplane, or not.
class Worker {
public:
    Worker(const char* rules, bool is_overlapped)
        : box_{rules, kPolicy}, is_overlapped_{is_overlapped} {
        for (Burst& burst : bursts_) {
            burst.find_units_by(parser_->finder());
        }
    }

    // What became of the frames that both boxes are sent.
    [[nodiscard]] std::vector<Decision> judge(const std::vector<SentBurst>& sent, bool has_others) {
        for (const SentBurst& each : sent) {
            step(each, has_others);
        }
        step({.frames = {}, .at = sent.back().at}, has_others);
        return std::move(decisions_);
    }
    [[nodiscard]] std::uint64_t counted(UnitEvent event) const {
        return box_.counters().by_unit_event[static_cast<std::size_t>(event)].read();
    }
    [[nodiscard]] const RuleCounters& rule(std::size_t number) const {
        return box_.counters(number);
    }

private:
    static constexpr PacketPolicy kPolicy{.tell_wait = false};

    void step(const SentBurst& sent, bool has_others) {
        Burst& coming = bursts_[number_ % 2];
        Burst& going = is_overlapped_ ? bursts_[(number_ + 1) % 2] : coming;
        std::vector<Sent>& kept = kept_[number_ % 2];
        kept = sent.frames;
        if (!has_others) {
            std::erase_if(kept, [](const Sent& each) { return each.is_other; });
        }
        coming.clear();
        for (const Sent& each : kept) {
            test::arrive(coming, each.frame);
        }
        if (is_overlapped_) {
            box_.run_overlapped(coming, going, sent.at);
        } else {
            box_.run(coming, sent.at);
        }
        const std::vector<Sent>& gone = is_overlapped_ ? kept_[(number_ + 1) % 2] : kept;
        for (std::size_t row = 0; row < gone.size(); ++row) {
            if (!gone[row].is_other) {
                decisions_.push_back(going.packets()[row].decision);
            }
        }
        ++number_;
    }

    std::unique_ptr<UnitParser> parser_ = std::make_unique<UnitParser>(capture_unit_budget());
    Box box_;
    bool is_overlapped_;
    std::array<Burst, 2> bursts_;
    std::array<std::vector<Sent>, 2> kept_;
    std::size_t number_ = 0;
    std::vector<Decision> decisions_;
};

class UnitsBesideOthers : public testing::TestWithParam<Row> {};

void compare(const Row& row, unsigned seed) {
    constexpr std::array kClients{6U, 40U, 400U};
    constexpr std::size_t kBursts = 60;
    const std::string where = std::string{row.name} + ", seed " + std::to_string(seed);
    const bool is_overlapped = seed % 2 == 0;
    const std::vector<SentBurst> sent =
        Traffic{seed, kClients[seed % kClients.size()]}.bursts(kBursts);
    Worker alone{row.rules, is_overlapped};
    Worker beside{row.rules, is_overlapped};
    const std::vector<Decision> due = alone.judge(sent, false);
    const std::vector<Decision> got = beside.judge(sent, true);
    ASSERT_EQ(got.size(), due.size()) << where;
    for (std::size_t i = 0; i < due.size(); ++i) {
        ASSERT_EQ(got[i].verdict, due[i].verdict) << where << ", frame " << i;
        ASSERT_EQ(got[i].reason, due[i].reason) << where << ", frame " << i;
        ASSERT_EQ(got[i].rule, due[i].rule) << where << ", frame " << i;
    }
    for (const UnitEvent event : kCounted) {
        EXPECT_EQ(beside.counted(event), alone.counted(event))
            << where << ", event " << static_cast<int>(event);
    }
    const RuleCounters& rule = alone.rule(row.counted);
    EXPECT_EQ(beside.rule(row.counted).exceeded.read(), rule.exceeded.read()) << where;
    EXPECT_EQ(beside.rule(row.counted).admitted.read(), rule.admitted.read()) << where;
    EXPECT_GT(alone.counted(UnitEvent::HttpRequest), 0U) << where;
}

TEST_P(UnitsBesideOthers, AreFoundAndJudgedAsAlone) {
    for (unsigned seed = 1; seed <= static_cast<unsigned>(test::rounds(24)) && !HasFailure();
         ++seed) {
        compare(GetParam(), seed);
    }
}

INSTANTIATE_TEST_SUITE_P(Rules, UnitsBesideOthers, testing::ValuesIn(kRows), [](const auto& row) {
    std::string name = row.param.name;
    std::replace_if(name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
    return name;
});

}  // namespace
}  // namespace sluice::units_beside_others_test

#undef RULES
#undef RULE
#undef BUCKET
