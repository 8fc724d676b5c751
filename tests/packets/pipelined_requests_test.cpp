#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/service_dialogue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// Many requests in one segment: each is judged and charged once, and the connection goes on.
namespace sluice::pipelined_requests_test {
namespace {

using test::client;
using test::kStart;
using test::server;
using test::syn;
using test::syn_ack;

const std::string kTiny = "GET / HTTP/1.1\r\nHost:a\r\n\r\n";

std::string times(const std::string& text, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
        all += text;
    }
    return all;
}

std::string rules(std::string_view mode, std::uint64_t most) {
    return "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and "
           "l4.dport eq 80', mode: " +
           std::string{mode} +
           ", checksums: trust}\nrules:\n  - {id: all, mode: enforce, when: 'ip.dst eq 192.0.2.1 "
           "and l4.dport eq 80', key: [ip.src], per: request, limits: [{algorithm: fixed_window, "
           "count: " +
           std::to_string(most) + ", window: 1h}]}\n";
}
std::string anywhere(std::uint64_t most) {
    const std::string all = rules("monitor", most);
    return "version: 1\n" + all.substr(all.find("rules:"));
}

std::string of_host(const std::string& host) {
    return "GET / HTTP/1.1\r\nHost: " + host + ".example\r\n\r\n";
}

// One connection through a box.
struct Dialogue {
    UnitParser parser{capture_unit_budget()};
    test::Box box;
    std::uint32_t sent = 0;

    explicit Dialogue(const std::string& text) : box{text} {
        box.find_units_by(parser.finder());
        for (const test::Frame& frame : {syn(), syn_ack(), client("")}) {
            EXPECT_EQ(box.judge(frame, kStart).reason, Reason::Unmatched);
        }
    }
    std::string_view send(const std::string& text) {
        const std::string_view reason = repeat(text);
        sent += static_cast<std::uint32_t>(text.size());
        return reason;
    }
    std::string_view repeat(const std::string& text) {
        return row_of(box.judge(client(text, sent), kStart).reason).name;
    }
    [[nodiscard]] std::uint64_t admitted() { return box.counters(0).admitted.read(); }
    [[nodiscard]] std::uint64_t counted(UnitEvent event) {
        return box.counters().by_unit_event[static_cast<std::size_t>(event)].read();
    }
    [[nodiscard]] std::uint64_t would_refuse(Reason reason) {
        return box.counters().would_refuse[static_cast<std::size_t>(reason)].read();
    }
};

// Values that one segment shows are all noted, wherever a line of them ends: they are known when
// they come again, and only new ones use up what is left.
TEST(Pipelined, NewValuesOfOneSegmentAreAllNoted) {
    constexpr std::size_t kCount = 60;
    constexpr std::size_t kTogether = 5;
    constexpr std::size_t kAtEdges[] = {8, 11, 12, 13, 15, 27, 31, 43, 47, 55};
    for (const std::size_t before : kAtEdges) {
        SCOPED_TRACE(before);
        Dialogue talk{
            "version: 1\nrules:\n  - {id: hosts, mode: enforce, key: [ip.src], per: request, "
            "limits: [{algorithm: distinct, of: http.host, count: " +
            std::to_string(kCount) + ", window: 1h}]}\n"};
        for (std::size_t i = 0; i < before; ++i) {
            ASSERT_EQ(talk.send(of_host("h" + std::to_string(i))), "within_limits");
        }
        std::string together;
        for (std::size_t i = 0; i < kTogether; ++i) {
            together += of_host("p" + std::to_string(i));
        }
        ASSERT_EQ(talk.send(together), "within_limits");
        for (std::size_t i = 0; i < 3 * kTogether; ++i) {
            ASSERT_EQ(talk.send(of_host("p" + std::to_string(i % kTogether))), "within_limits");
        }
        for (std::size_t i = before + kTogether; i < kCount; ++i) {
            ASSERT_EQ(talk.send(of_host("m" + std::to_string(i))), "within_limits") << i;
        }
        ASSERT_EQ(talk.send(of_host("last")), "over_limit");
    }
}

// In whatever stance.
TEST(Pipelined, ManyRequestsAreEachCountedOnce) {
    for (const std::size_t count : {std::size_t{9}, std::size_t{16}, std::size_t{60}, kMaxUnits}) {
        for (const std::string& text :
             {rules("enforce", count + 1), rules("monitor", count + 1), anywhere(count + 1)}) {
            SCOPED_TRACE(std::to_string(count) + "\n" + text);
            Dialogue talk{text};
            EXPECT_EQ(talk.send(times(kTiny, count)), "within_limits");
            EXPECT_EQ(talk.admitted(), count);
            EXPECT_EQ(talk.send(kTiny), "within_limits") << "the last that the limit has";
            EXPECT_EQ(talk.send(kTiny), "over_limit");
            EXPECT_EQ(talk.admitted(), count + 1);
            EXPECT_EQ(talk.counted(UnitEvent::TooManyUnits), 0U);
        }
    }
}

// What comes again is not charged again, whole or in parts, and a crowd beyond the limit costs
// nobody anything.
TEST(Pipelined, RepeatsAreUncharged) {
    Dialogue talk{rules("enforce", 100)};
    const std::string sixty = times(kTiny, 60);
    EXPECT_EQ(talk.repeat(sixty), "within_limits");
    EXPECT_EQ(talk.repeat(sixty), "unmatched");
    EXPECT_EQ(talk.send(sixty), "unmatched");
    EXPECT_EQ(talk.admitted(), 60U);
    EXPECT_EQ(talk.send(sixty), "over_limit") << "60 do not fit into 40";
    Dialogue other{rules("enforce", 100)};
    EXPECT_EQ(other.repeat(times(kTiny, 60)), "within_limits");
    EXPECT_EQ(other.send(times(kTiny, 60)), "unmatched");
    EXPECT_EQ(other.send(times(kTiny, 40)), "within_limits");
}

// Heads and bodies are cut wherever segments end.
TEST(Pipelined, CrowdsGoOnOverSegments) {
    Dialogue talk{rules("enforce", 90)};
    const std::string all = times(kTiny, 90);
    for (std::size_t at = 0; at < all.size(); at += 700) {
        EXPECT_EQ(talk.send(all.substr(at, 700)), "within_limits") << at;
    }
    EXPECT_EQ(talk.admitted(), 90U);
    EXPECT_EQ(talk.send(kTiny), "over_limit");
}

// Beyond the bound a packet is refused, in monitor mode counted, and the connection is followed
// all the same; of no service it goes unread.
TEST(Pipelined, BeyondTheBoundAPacketIsRefused) {
    const std::string crowd = times(kTiny, kMaxUnits + 1);
    Dialogue enforced{rules("enforce", 1)};
    EXPECT_EQ(enforced.repeat(crowd), "too_many_units");
    EXPECT_EQ(enforced.repeat(crowd), "retransmission");
    EXPECT_EQ(enforced.send(crowd), "retransmission");
    EXPECT_EQ(enforced.send(kTiny), "within_limits") << "its server has a gap before it";
    EXPECT_EQ(enforced.send(kTiny), "over_limit");
    Dialogue monitored{rules("monitor", 1)};
    EXPECT_EQ(monitored.send(crowd), "unmatched");
    EXPECT_EQ(monitored.would_refuse(Reason::TooManyUnits), 1U);
    EXPECT_EQ(monitored.send(kTiny), "within_limits");
    EXPECT_EQ(monitored.send(kTiny), "over_limit");
    Dialogue elsewhere{anywhere(1)};
    EXPECT_EQ(elsewhere.send(crowd), "unmatched");
    EXPECT_EQ(elsewhere.counted(UnitEvent::TooManyUnits), 1U);
    EXPECT_EQ(elsewhere.send(kTiny), "unmatched");
}

// A packet that others have crowded out comes again and is judged then.
TEST(Pipelined, CrowdedOutMayComeAgain) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{rules("enforce", 2000)};
    box.find_units_by(parser.finder());
    std::vector<std::vector<std::byte>> crowds;
    for (std::uint16_t port = 1; port <= 3; ++port) {
        for (const test::Frame& frame :
             {syn().sport(port), syn_ack().dport(port), client("").sport(port)}) {
            (void)box.judge(frame, kStart);
        }
        crowds.push_back(client(times(kTiny, kMaxUnits)).sport(port).bytes());
    }
    const std::vector<Decision> got = box.judge_burst(crowds, kStart);
    EXPECT_EQ(got[0].reason, Reason::WithinLimits);
    EXPECT_EQ(got[1].reason, Reason::TooManyUnits);
    EXPECT_EQ(got[2].reason, Reason::TooManyUnits);
    EXPECT_EQ(box.judge(crowds[2], kStart).reason, Reason::WithinLimits);
    EXPECT_EQ(box.judge(crowds[1], kStart).reason, Reason::WithinLimits);
    EXPECT_EQ(box.judge(crowds[0], kStart).reason, Reason::Unmatched);
    EXPECT_EQ(box.counters(0).admitted.read(), 3 * kMaxUnits);
}

}  // namespace
}  // namespace sluice::pipelined_requests_test
