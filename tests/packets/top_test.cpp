#include "lib/watch/top/top_keys.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

// Who `top` lists, from packets to text.
namespace sluice::top_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::tcp;
using test::udp;

#define BUCKET(rate, burst) "{algorithm: token_bucket, rate: " rate ", burst: " burst "}"

constexpr Instant kStart{1h};

// A box whose samples are read after every packet.
struct Watched {
    Box box;
    KeySampler sampler{7};
    TopKeys top;

    explicit Watched(std::string_view rules) : box{rules} {
        box.watch(sampler);
        top.adopt(box.set());
    }
    void send(const test::Frame& frame, Instant now) { send(frame.bytes(), now); }
    void send(const test::Octets& bytes, Instant now) {
        (void)box.judge(bytes, now);
        sampler.ring().drain([&](const KeySample& sample) { top.take(sample); });
    }
    [[nodiscard]] std::map<std::string, TopKey> keys(const std::string& rule) {
        std::map<std::string, TopKey> keys;
        for (TopKey& key : top.list({.rule = rule, .count = 1000})) {
            keys[text_of_key(std::as_bytes(std::span{key.key}), [](std::uint64_t name) {
                return name == port_name("lab") ? "lab" : "?";
            })] = key;
        }
        return keys;
    }
};

// Far apart, so that every packet is sampled: exact.
TEST(Top, CountsEachKeyOfEachRule) {
    Watched watched{
        "version: 1\nrules:\n"
        "  - {id: a, mode: enforce, key: [ip.src, l4.dport], limits: [" BUCKET("1/d", "2") "]}\n"
        "  - {id: b, key: [\"prefix(ip.src, 24|64)\", port], limits: [" BUCKET("1/d", "3") "]}\n"
        "  - {id: c, mode: enforce, when: ip.proto eq 6, on_match: allow}\n"};
    Instant now = kStart;
    for (int i = 0; i < 4; ++i) {
        watched.send(udp().src("10.0.0.1").dport(53), now += 1s);
        watched.send(udp().src("2001:db8::1").dst("2001:db8::2").dport(443), now += 1s);
        watched.send(tcp().src("10.0.0.2"), now += 1s);
    }
    const auto a = watched.keys("a");
    ASSERT_EQ(a.size(), 2U);
    EXPECT_EQ(a.at("10.0.0.1|53").hits, 4U);
    EXPECT_EQ(a.at("10.0.0.1|53").denied, 2U);
    EXPECT_EQ(a.at("10.0.0.1|53").remaining, 0U);
    EXPECT_EQ(a.at("2001:db8::1|443").hits, 4U);
    const auto b = watched.keys("b");
    ASSERT_EQ(b.size(), 2U);
    EXPECT_EQ(b.at("10.0.0.0/24|lab").hits, 4U);
    EXPECT_EQ(b.at("10.0.0.0/24|lab").denied, 0U);  // what `a` drops it does not spend
    EXPECT_EQ(b.at("10.0.0.0/24|lab").remaining, 1U);
    EXPECT_EQ(b.count("2001:db8::/64|lab"), 1U);
    EXPECT_TRUE(watched.keys("c").empty());
}

// A packet that comes alone, behind a train of others that match nothing, stands for itself.
TEST(Top, OthersTrainsAreNotCountedForWhoComesBehindThem) {
    Watched watched{
        "version: 1\nrules:\n  - {id: a, when: l4.dport eq 53, key: [ip.src], limits: [" BUCKET(
            "1/d", "2") "]}\n"};
    const test::Octets other = udp().src("10.0.0.9").dport(9).bytes();
    const test::Octets own = udp().src("10.0.0.1").dport(53).bytes();
    constexpr int kRounds = 4000;
    Instant now = kStart;
    for (int round = 0; round < kRounds; ++round) {
        now += 500us;
        for (int packet = 0; packet < 100; ++packet) {
            watched.send(other, now += 1us);
        }
        watched.send(own, now += 500us);
    }
    // Each sample stands for 20 packets or so.
    EXPECT_NEAR(static_cast<double>(watched.keys("a").at("10.0.0.1").hits), kRounds, kRounds / 3);
}

// A bucket fills again behind its key's ban, and an exempt key's is not asked.
TEST(Top, ABannedKeyHasNothingLeftAndOfAnExemptOneNothingCounts) {
    Watched watched{
        "version: 1\nrules:\n"
        "  - {id: a, mode: enforce, key: [ip.src], limits: [" BUCKET("1/s", "1") "], "
        "ban: {after: 1, within: 1m, for: 1h}, "
        "overrides: {inline: [{key: [10.0.0.9], exempt: true}]}}\n"};
    Instant now = kStart;
    for (const auto wait : {0s, 0s, 100s}) {
        now += wait;
        watched.send(udp().src("10.0.0.1"), now);
    }
    watched.send(udp().src("10.0.0.9"), now += 1s);
    watched.send(udp().src("10.0.0.2"), now += 1s);
    const auto keys = watched.keys("a");
    EXPECT_TRUE(keys.at("10.0.0.1").banned);
    EXPECT_EQ(keys.at("10.0.0.1").remaining, 0U);
    EXPECT_TRUE(keys.at("10.0.0.9").exempt);
    EXPECT_EQ(keys.at("10.0.0.9").remaining, std::nullopt);
    EXPECT_FALSE(keys.at("10.0.0.2").banned || keys.at("10.0.0.2").exempt);
    EXPECT_EQ(keys.at("10.0.0.2").remaining, 0U);
}

TEST(Top, NamesTheKeysOfTiersAndTheWholeRule) {
    Watched watched{
        "version: 1\nrules:\n"
        "  - id: t\n    mode: enforce\n    tiers:\n"
        "      - {key: [ip.src], limits: [" BUCKET("1/d", "9") ", " BUCKET("1/d", "8") "]}\n"
        "      - {key: [], limits: [" BUCKET("1/d", "7") "]}\n"};
    watched.send(udp().src("10.0.0.1"), kStart);
    const auto keys = watched.keys("t");
    ASSERT_EQ(keys.size(), 2U);
    EXPECT_EQ(keys.at("10.0.0.1").remaining, 8U);
    EXPECT_EQ(keys.at("").remaining, 6U);
}

// A budget counts whom it lets through and whom it does not; rules only whom they judge.
TEST(Top, CountsBudgets) {
    Watched watched{
        "version: 1\nbypass:\n"
        "  - {when: \"l4.dport eq 179\", key: [ip.src], limit: " BUCKET("1/d", "2") "}\n"
        "  - {when: \"l4.dport eq 179\", key: [], limit: " BUCKET("1/d", "1") "}\n"
        "rules:\n  - {id: a, key: [ip.src], limits: [" BUCKET("1/d", "9") "]}\n"};
    for (int i = 0; i < 5; ++i) {
        watched.send(tcp().src("10.0.0.1").dport(179), kStart + i * 1s);
    }
    const TopKey first = watched.keys("bypass.1").at("10.0.0.1");
    EXPECT_EQ(first.hits, 5U);
    EXPECT_EQ(first.denied, 3U);
    const TopKey second = watched.keys("bypass.2").at("");
    EXPECT_EQ(second.hits, 3U);
    EXPECT_EQ(second.denied, 2U);
    EXPECT_EQ(watched.keys("a").at("10.0.0.1").hits, 2U);
}

// Close together, so that most packets are not: within the error that is told.
TEST(Top, EstimatesWithinItsError) {
    Watched watched{"version: 1\nrules: [{id: a, mode: enforce, key: [ip.src], limits: [" BUCKET(
        "2000/s", "10") "]}]\n"};
    constexpr std::size_t kSources = 9;
    std::array<std::uint64_t, kSources> sent{};
    std::array<test::Octets, kSources> frames;
    const auto source = [](std::size_t i) { return "10.0.0." + std::to_string(i); };
    for (std::size_t i = 0; i < kSources; ++i) {
        frames[i] = udp().src(source(i)).bytes();
    }
    std::mt19937_64 random{5};
    Instant now = kStart;
    for (int i = 0; i < 200'000; ++i) {
        now += Nanoseconds{random() % 20'000};
        const std::size_t from = std::min(random() % kSources, random() % kSources);
        ++sent[from];
        watched.send(frames[from], now);
    }
    EXPECT_GT(watched.top.samples(TopWindow::TenSeconds), 5'000U);
    EXPECT_LT(watched.top.samples(TopWindow::TenSeconds), 15'000U);
    const auto keys = watched.keys("a");
    for (std::size_t i = 0; i < kSources; ++i) {
        const std::uint64_t count = sent[i];
        const TopKey& key = keys.at(source(i));
        const auto off = static_cast<double>(key.hits) - static_cast<double>(count);
        EXPECT_LT(std::abs(off), static_cast<double>(key.hits_error)) << source(i);
        EXPECT_LT(key.hits_error, count / 2) << source(i);
    }
}

}  // namespace
}  // namespace sluice::top_test

#undef BUCKET
