#include "lib/watch/events/new_bans.hpp"
#include "lib/rules/load/early_drop.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// What is told of sources that go into penalty boxes, for the kernel to drop what they send.
namespace sluice::test::new_bans_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};
const std::string kBan = "ban: {after: 3, within: 10s, for: 1m}";

std::string rules(const std::string& more = kBan, const std::string& key = "ip.src",
                  const std::string& mode = "enforce") {
    return "version: 1\nrules:\n  - id: other\n    on_match: drop\n    when: 'l4.dport eq 7'\n"
           "  - id: r\n    mode: " +
           mode + "\n    key: [" + key +
           "]\n    limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}]\n    " + more + "\n";
}

class Telling {
public:
    explicit Telling(const std::string& text, std::size_t ring = NewBans::kRingSize)
        : box{text}, bans{ring} {
        box.watch(bans);
    }
    void send(const std::string& source, Nanoseconds passed, int count) {
        for (int i = 0; i < count; ++i) {
            (void)box.judge(udp().src(source).bytes(), kStart + passed);
        }
    }
    // "10.0.0.1/32 of r until 60000", in ms.
    std::vector<std::string> told() {
        std::vector<std::string> lines;
        bans.ring().drain([&](const NewBan& ban) {
            const auto from = source_of_key(ban.key());
            const Nanoseconds until = ban.until - kStart.time_since_epoch();
            lines.push_back((from ? to_text(*from) : "?") + " of " + box.set().rules[ban.rule].id +
                            " until " + std::to_string(until / 1ms));
            EXPECT_EQ(ban.load, box.set().load);
        });
        return lines;
    }

    Box box;
    NewBans bans;
};
using Lines = std::vector<std::string>;

TEST(NewBans, EachIsToldOnceAsItBeginsWithoutEvents) {
    Telling box{rules()};
    box.send("10.0.0.1", 0ms, 7);
    EXPECT_EQ(box.told(), Lines{});
    box.send("10.0.0.1", 1ms, 1);
    box.send("2001:db8::1", 2ms, 8);
    EXPECT_EQ(box.told(), (Lines{"10.0.0.1 of r until 60001", "2001:db8::1 of r until 60002"}));
    box.send("10.0.0.1", 30s, 50);
    EXPECT_EQ(box.told(), Lines{}) << "it has been told";
    box.send("10.0.0.1", 100s, 8);
    EXPECT_EQ(box.told(), Lines{"10.0.0.1 of r until 160000"});
}

TEST(NewBans, ANetworkIsToldAsOne) {
    Telling box{rules(kBan, "'prefix(ip.src, 24|64)'")};
    box.send("10.0.0.1", 0ms, 8);
    EXPECT_EQ(box.told(), Lines{"10.0.0.0/24 of r until 60000"});
}

TEST(NewBans, WhatTheKernelCouldNeverDropIsNotTold) {
    for (const std::string& text :
         {rules(kBan, "ip.src", "monitor"), rules(kBan, "ip.dst"), rules(kBan, "ip.src, ip.dst"),
          rules("ban: {after: 3, within: 10s, for: 1m, action: reset}"),
          rules("rejected_spend: false")}) {
        Telling box{text};
        box.send("10.0.0.1", 0ms, 50);
        EXPECT_EQ(box.told(), Lines{}) << text;
        EXPECT_EQ(box.bans.lost(), 0U) << text;
    }
}

TEST(NewBans, WhatFindsNoPlaceIsCounted) {
    Telling box{rules(), 4};
    for (int i = 0; i < 10; ++i) {
        box.send("10.0.0." + std::to_string(i), 0ms, 8);
    }
    EXPECT_EQ(box.told().size(), 4U);
    EXPECT_EQ(box.bans.lost(), 6U);
    box.send("10.0.1.1", 1s, 8);
    EXPECT_EQ(box.told().size(), 1U);
}

}  // namespace
}  // namespace sluice::test::new_bans_test
