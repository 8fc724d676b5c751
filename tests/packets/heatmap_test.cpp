#include "lib/watch/heatmap/heat_collector.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/memory_box.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

// What heat maps are drawn from, from packets to epochs.
namespace sluice::heatmap_test {
namespace {

using namespace std::chrono_literals;
using test::Frame;
using test::MemoryBox;
using test::tcp;
using test::udp;

constexpr Instant kBegin{1h};
constexpr std::string_view kTwenty = "{algorithm: token_bucket, rate: 1/d, burst: 20}";

std::string rules(std::string_view terms, std::string_view limits = kTwenty) {
    return "version: 1\nrules:\n  - {id: a, heatmap: on, key: [ip.src], " + std::string{terms} +
           ", limits: [" + std::string{limits} + "]}\n";
}

// Workers in memory, whose collector is ticked as a main lcore would.
struct Sampled {
    MemoryBox box;
    HeatCollector collector;
    Instant now = kBegin;
    std::uint64_t seen = 0;  // epochs

    explicit Sampled(std::string_view text, std::size_t workers = 1, std::size_t keys = 1024)
        : box{text, {.workers = workers, .keys = keys}}, collector{samplers(box)} {
        adopt(1);
    }
    [[nodiscard]] static std::vector<HeatSampler*> samplers(MemoryBox& box) {
        std::vector<HeatSampler*> all;
        for (std::size_t i = 0; i < box.size(); ++i) {
            all.push_back(&box.heat(i));
        }
        return all;
    }
    void adopt(std::uint64_t generation) {
        collector.adopt(box.set(), generation);
        tick();
        poll_all();
    }
    void tick() {
        box.set_time(now);
        collector.tick({now, {}}, [](std::uint64_t) { return std::string{"lab"}; });
    }
    void poll_all() {
        for (std::size_t i = 0; i < box.size(); ++i) {
            (void)box.poll(i);
        }
    }
    void send(const Frame& frame, std::size_t at = 0) { (void)box.show("", frame, at); }
    void send(std::string_view src, std::size_t count, std::size_t at = 0) {
        for (std::size_t i = 0; i < count; ++i) {
            send(udp().src(src), at);
        }
    }
    // The epoch ends, and what its workers have is read.
    HeatEpoch end_epoch() {
        poll_all();
        now += HeatCollector::kEpoch;
        tick();
        poll_all();
        tick();
        return latest();
    }
    HeatEpoch latest() {
        const std::vector<HeatEpoch> epochs = collector.after(seen, 10);
        seen = epochs.empty() ? seen : epochs.back().number;
        return epochs.empty() ? HeatEpoch{} : epochs.back();
    }
    // All keys are watched, once a few epochs have shown that there are not many.
    void watch_all() {
        for (int i = 0; i < 4; ++i) {
            (void)end_epoch();
        }
    }
    [[nodiscard]] const HeatLimit& limit(const HeatEpoch& epoch, std::string_view rule = "a",
                                         std::uint32_t index = 0) const {
        const auto found = std::find_if(
            epoch.limits.begin(), epoch.limits.end(),
            [&](const HeatLimit& one) { return one.rule == rule && one.limit == index; });
        static const HeatLimit kNone;
        return found == epoch.limits.end() ? kNone : *found;
    }
};

// By name.
std::map<std::string, HeatSample> by_key(const HeatLimit& limit) {
    std::map<std::string, HeatSample> found;
    for (const NamedHeatKey& named : limit.names) {
        for (const HeatSample& sample : limit.samples) {
            if (sample.digest == named.digest) {
                found[named.key] = sample;
            }
        }
    }
    return found;
}

// What is left to a key that was not refused: never 0.
std::uint8_t share(std::uint64_t left, std::uint64_t most) {
    return static_cast<std::uint8_t>(std::max<std::uint64_t>(1, (left * 255 + most - 1) / most));
}

// Packets of some keys under one rule, and what its limits' samples are then.
struct Case {
    const char* what;
    std::string text;
    struct Sent {
        const char* src;
        std::size_t count;
        const char* dst = "192.0.2.1";
    };
    std::vector<Sent> packets;
    struct Expected {
        std::uint32_t limit;
        const char* key;
        std::uint32_t offered;
        std::uint32_t refused;
        std::uint8_t left;
        const char* rule = "a";
    };
    std::vector<Expected> samples;
};

std::vector<Case> cases() {
    return {
        {"what a key offers, and the least it has left",
         rules("mode: enforce"),
         {{"10.0.0.1", 5}, {"10.0.0.2", 20}},
         {{0, "10.0.0.1", 5, 0, share(15, 20)}, {0, "10.0.0.2", 20, 0, share(0, 20)}}},
        {"a key that is refused has nothing left",
         rules("mode: enforce"),
         {{"10.0.0.1", 25}},
         {{0, "10.0.0.1", 25, 5, 0}}},
        {"a rule that monitors: what it would refuse",
         rules("mode: monitor"),
         {{"10.0.0.1", 25}},
         {{0, "10.0.0.1", 25, 5, 0}}},
        {"units, not packets",
         rules("mode: enforce, cost: 3"),
         {{"10.0.0.1", 7}},
         {{0, "10.0.0.1", 21, 3, 0}}},
        {"a packet that costs more than is left is refused",
         rules("mode: enforce, cost: 8"),
         {{"10.0.0.1", 3}},
         {{0, "10.0.0.1", 24, 8, 0}}},
        {"of several limits the one that refuses",
         rules("mode: enforce",
               "{algorithm: token_bucket, rate: 1/d, burst: 20}, {algorithm: "
               "token_bucket, rate: 1/d, burst: 100}"),
         {{"10.0.0.1", 25}},
         {{0, "10.0.0.1", 25, 5, 0}, {1, "10.0.0.1", 25, 0, share(80, 100)}}},
        {"a window",
         rules("mode: enforce", "{algorithm: sliding_window, count: 10, window: 1h}"),
         {{"10.0.0.1", 4}, {"10.0.0.2", 12}},
         {{0, "10.0.0.1", 4, 0, share(6, 10)}, {0, "10.0.0.2", 12, 2, 0}}},
        {"a leaky bucket",
         rules("mode: enforce", "{algorithm: leaky_bucket, rate: 1/d, queue: 9}"),
         {{"10.0.0.1", 4}},
         {{0, "10.0.0.1", 4, 0, share(5, 9)}}},
        {"a key that is banned is refused whatever its bucket holds",
         rules("mode: enforce, ban: {after: 1, within: 1h, for: 1h}"),
         {{"10.0.0.1", 30}},
         {{0, "10.0.0.1", 30, 10, 0}}},
        {"exempt keys are not under the limit",
         rules("mode: enforce, overrides: {inline: [{key: 10.0.0.1, exempt: true}]}"),
         {{"10.0.0.1", 30}, {"10.0.0.2", 1}},
         {{0, "10.0.0.2", 1, 0, share(19, 20)}}},
        {"keys with numbers of their own",
         rules("mode: enforce, overrides: {inline: [{key: 10.0.0.1, limits: {\"1\": {rate: 1/d, "
               "burst: "
               "40}}}]}"),
         {{"10.0.0.1", 30}, {"10.0.0.2", 10}},
         {{0, "10.0.0.1", 30, 0, share(10, 40)}, {0, "10.0.0.2", 10, 0, share(10, 20)}}},
    };
}

// Of rules with several limits: each has its own refusals, and none of the others'.
std::vector<Case> cases_of_several() {
    constexpr std::string_view kDay = "{algorithm: token_bucket, rate: 1/d, burst: ";
    const auto bucket = [&](int burst) { return std::string{kDay} + std::to_string(burst) + "}"; };
    const std::string three = bucket(7) + ", " + bucket(5) + ", " + bucket(100);
    const std::string tiers = "tiers: [{key: [ip.src], limits: [" + bucket(5) +
                              "]}, {key: [ip.dst], limits: [" + bucket(8) + "]}]}\n";
    const std::string two_tiers = "version: 1\nrules:\n  - {id: a, heatmap: on, " + tiers;
    return {
        {"three limits of one key, the second of which refuses",
         rules("mode: enforce", three),
         {{"10.0.0.1", 12}},
         {{0, "10.0.0.1", 12, 0, share(2, 7)},
          {1, "10.0.0.1", 12, 7, 0},
          {2, "10.0.0.1", 12, 0, share(95, 100)}}},
        {"and would, of a rule that monitors",
         rules("mode: monitor", three),
         {{"10.0.0.1", 12}},
         {{0, "10.0.0.1", 12, 0, share(2, 7)},
          {1, "10.0.0.1", 12, 7, 0},
          {2, "10.0.0.1", 12, 0, share(95, 100)}}},
        {"a tier that has nothing left behind a packet that the other one refused",
         "version: 1\nrules:\n  - {id: a, heatmap: on, mode: enforce, " + tiers,
         {{"10.0.0.1", 6}, {"10.0.0.2", 3}},
         {{0, "10.0.0.1", 6, 1, 0},
          {0, "10.0.0.2", 3, 0, share(2, 5)},
          {1, "192.0.2.1", 9, 0, share(0, 8)}}},
        {"both tiers, each its own packets",
         two_tiers,
         {{"10.0.0.1", 6}, {"10.0.0.2", 4}, {"10.0.0.1", 1, "192.0.2.2"}},
         {{0, "10.0.0.1", 7, 2, 0},
          {0, "10.0.0.2", 4, 0, share(2, 5)},
          {1, "192.0.2.1", 10, 1, 0},
          {1, "192.0.2.2", 1, 0, share(8, 8)}}},
        {"a packet that both have no room for is refused by both",
         rules("mode: enforce", bucket(5) + ", " + bucket(5)),
         {{"10.0.0.1", 6}},
         {{0, "10.0.0.1", 6, 1, 0}, {1, "10.0.0.1", 6, 1, 0}}},
        {"a limit by the numbers of the key",
         rules("mode: enforce, overrides: {inline: [{key: 10.0.0.1, limits: {\"2\": {rate: 1/d, "
               "burst: 3}}}]}",
               bucket(20) + ", " + bucket(100)),
         {{"10.0.0.1", 5}, {"10.0.0.2", 5}},
         {{0, "10.0.0.1", 5, 0, share(17, 20)},
          {1, "10.0.0.1", 5, 2, 0},
          {0, "10.0.0.2", 5, 0, share(15, 20)},
          {1, "10.0.0.2", 5, 0, share(95, 100)}}},
        {"a candidate with another second limit",
         rules("mode: enforce, candidates: [{name: few, limits: {\"2\": {burst: 3}}}]",
               bucket(20) + ", " + bucket(100)),
         {{"10.0.0.1", 5}},
         {{0, "10.0.0.1", 5, 0, share(15, 20)},
          {1, "10.0.0.1", 5, 0, share(95, 100)},
          {0, "10.0.0.1", 5, 0, share(17, 20), "a.few"},
          {1, "10.0.0.1", 5, 2, 0, "a.few"}}},
        {"a colour meter and a bucket",
         rules("mode: enforce, on_color: {red: {action: drop}}",
               "{algorithm: srtcm, cir: 1/d, cbs: 4, ebs: 2}, " + bucket(20)),
         {{"10.0.0.1", 8}},
         {{0, "10.0.0.1", 8, 2, 0}, {1, "10.0.0.1", 8, 0, share(14, 20)}}},
    };
}

TEST(Heatmap, SamplesAreWhatPacketsCameTo) {
    std::vector<Case> all = cases();
    std::ranges::move(cases_of_several(), std::back_inserter(all));
    for (const Case& one : all) {
        SCOPED_TRACE(one.what);
        Sampled sampled{one.text};
        sampled.watch_all();
        for (const auto& [src, count, dst] : one.packets) {
            for (std::size_t i = 0; i < count; ++i) {
                sampled.send(udp().src(src).dst(dst));
            }
        }
        const HeatEpoch epoch = sampled.end_epoch();
        std::size_t samples = 0;
        for (const HeatLimit& limit : epoch.limits) {
            EXPECT_EQ(limit.sampling_bits, 0);
            EXPECT_EQ(limit.left_out, 0U);
            samples += limit.samples.size();
        }
        EXPECT_EQ(samples, one.samples.size());
        for (const Case::Expected& expected : one.samples) {
            SCOPED_TRACE(std::string{expected.rule} + " " + std::to_string(expected.limit) + " " +
                         expected.key);
            const auto found = by_key(sampled.limit(epoch, expected.rule, expected.limit));
            ASSERT_TRUE(found.contains(expected.key));
            const HeatSample& sample = found.at(expected.key);
            EXPECT_EQ(sample.offered, expected.offered);
            EXPECT_EQ(sample.refused, expected.refused);
            EXPECT_EQ(sample.least_left, expected.left);
        }
    }
}

// The least within the epoch, not what is left at its end.
TEST(Heatmap, ABucketThatIsFullAgainHadItsLeast) {
    Sampled sampled{rules("mode: enforce", "{algorithm: token_bucket, rate: 50/s, burst: 10}")};
    sampled.watch_all();
    sampled.send("10.0.0.1", 3);
    sampled.poll_all();
    sampled.now += 60ms;
    sampled.box.set_time(sampled.now);
    sampled.send("10.0.0.1", 1);
    const HeatEpoch epoch = sampled.end_epoch();
    const HeatSample sample = by_key(sampled.limit(epoch)).at("10.0.0.1");
    EXPECT_EQ(sample.offered, 4U);
    EXPECT_EQ(sample.least_left, share(7, 10));
}

TEST(Heatmap, EachEpochHasItsOwnPackets) {
    Sampled sampled{rules("mode: enforce")};
    sampled.watch_all();
    sampled.send("10.0.0.1", 3);
    const HeatEpoch first = sampled.end_epoch();
    sampled.send("10.0.0.1", 4);
    const HeatEpoch second = sampled.end_epoch();
    const HeatEpoch third = sampled.end_epoch();
    EXPECT_EQ(by_key(sampled.limit(first)).at("10.0.0.1").offered, 3U);
    EXPECT_EQ(by_key(sampled.limit(second)).at("10.0.0.1").offered, 4U);
    EXPECT_EQ(second.number, first.number + 1);
    EXPECT_EQ(second.began_utc_ns, first.ended_utc_ns);
    EXPECT_EQ(second.ended_utc_ns - second.began_utc_ns, Nanoseconds{1s}.count());
    EXPECT_TRUE(sampled.limit(third).samples.empty());
    EXPECT_EQ(sampled.limit(third).rule, "a");  // nobody came, which is known
}

// Rules without a map are sampled while somebody looks, from then on, without other rules.
TEST(Heatmap, ARuleThatSomebodyLooksAt) {
    Sampled sampled{
        "version: 1\nrules:\n"
        "  - {id: a, key: [ip.src], limits: [" +
        std::string{kTwenty} +
        "]}\n"
        "  - {id: b, key: [ip.src], limits: [" +
        std::string{kTwenty} + "]}\n"};
    EXPECT_EQ(sampled.end_epoch().number, 0U);
    EXPECT_EQ(sampled.collector.stats().watched_limits, 0U);
    sampled.collector.look_at({"b", "nobody"}, {sampled.now, {}});
    sampled.tick();  // at once: no epoch is cut short
    sampled.watch_all();
    sampled.send("10.0.0.1", 3);
    const HeatEpoch epoch = sampled.end_epoch();
    ASSERT_EQ(epoch.limits.size(), 1U);
    EXPECT_EQ(by_key(sampled.limit(epoch, "b")).at("10.0.0.1").offered, 3U);
    // Until kLookLasts after the last request.
    sampled.now += HeatCollector::kLookLasts;
    (void)sampled.end_epoch();
    (void)sampled.end_epoch();
    EXPECT_EQ(sampled.collector.stats().watched_limits, 0U);
    const std::uint64_t before = sampled.collector.latest();
    (void)sampled.end_epoch();
    EXPECT_EQ(sampled.collector.latest(), before);
}

TEST(Heatmap, SoManyRulesAreLookedAtAndNoMore) {
    std::string text = "version: 1\nrules:\n";
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < kMostLookedAt + 4; ++i) {
        ids.push_back("r" + std::to_string(i));
        text +=
            "  - {id: " + ids.back() + ", key: [ip.src], limits: [" + std::string{kTwenty} + "]}\n";
    }
    Sampled sampled{text};
    sampled.collector.look_at(ids, {sampled.now, {}});
    sampled.tick();
    EXPECT_EQ(sampled.collector.stats().watched_limits, kMostLookedAt);
}

// Who is not asked for any more makes room at once, though the look would last.
TEST(Heatmap, LooksThatAreAskedForTakeThePlaceOfOthers) {
    std::string text = "version: 1\nrules:\n";
    std::vector<std::string> ids;
    for (std::size_t i = 0; i <= kMostLookedAt; ++i) {
        ids.push_back("r" + std::to_string(i));
        text +=
            "  - {id: " + ids.back() + ", key: [ip.src], limits: [" + std::string{kTwenty} + "]}\n";
    }
    Sampled sampled{text};
    const std::vector<std::string> before(ids.begin(), ids.end() - 1);
    sampled.collector.look_at(before, {sampled.now, {}});
    (void)sampled.end_epoch();
    std::vector<std::string> others(ids.begin(), ids.end() - 2);
    others.push_back(ids.back());
    sampled.collector.look_at(others, {sampled.now, {}});
    (void)sampled.end_epoch();
    const HeatEpoch epoch = sampled.end_epoch();
    EXPECT_EQ(epoch.limits.size(), kMostLookedAt);
    EXPECT_EQ(sampled.limit(epoch, ids.back()).rule, ids.back());
    EXPECT_EQ(sampled.limit(epoch, before.back()).rule, "") << "nobody asks for it";
}

// A candidate of a rule has its own map.
TEST(Heatmap, CandidatesOfARuleHaveMapsToo) {
    Sampled sampled{
        rules("mode: enforce, candidates: [{name: half, limits: {\"1\": {burst: 10}}}]")};
    sampled.watch_all();
    sampled.send("10.0.0.1", 15);
    const HeatEpoch epoch = sampled.end_epoch();
    ASSERT_EQ(epoch.limits.size(), 2U);
    EXPECT_EQ(by_key(sampled.limit(epoch, "a")).at("10.0.0.1").refused, 0U);
    EXPECT_EQ(by_key(sampled.limit(epoch, "a.half")).at("10.0.0.1").refused, 5U);
}

// A reload ends the epoch; its samples stay those of the rules they were taken under, and the limit
// goes on with the bits that it has.
TEST(Heatmap, AReloadEndsTheEpoch) {
    Sampled sampled{rules("mode: enforce")};
    sampled.watch_all();
    sampled.send("10.0.0.1", 3);
    sampled.poll_all();
    sampled.now += 300ms;
    sampled.box.publish(rules("mode: monitor"));
    sampled.adopt(2);
    sampled.tick();
    const HeatEpoch before = sampled.latest();
    EXPECT_EQ(before.generation, 1U);
    EXPECT_EQ(before.ended_utc_ns - before.began_utc_ns, Nanoseconds{300ms}.count());
    EXPECT_EQ(by_key(sampled.limit(before)).at("10.0.0.1").offered, 3U);
    sampled.send("10.0.0.1", 4);
    const HeatEpoch after = sampled.end_epoch();
    EXPECT_EQ(after.generation, 2U);
    EXPECT_EQ(sampled.limit(after).sampling_bits, 0);
    EXPECT_EQ(by_key(sampled.limit(after)).at("10.0.0.1").offered, 4U);
    EXPECT_EQ(after.began_utc_ns, before.ended_utc_ns) << "nothing lies between";
}

// Two epochs of one second, and the next begins where it would have: reloads move nothing.
TEST(Heatmap, AfterAReloadTheEpochEndsWhenItWouldHave) {
    Sampled sampled{rules("mode: enforce")};
    sampled.watch_all();
    const std::int64_t began = sampled.end_epoch().ended_utc_ns;
    for (std::uint64_t push = 2; push < 6; ++push) {
        sampled.now += 200ms;
        sampled.box.publish(rules(push % 2 == 0 ? "mode: monitor" : "mode: enforce"));
        sampled.adopt(push);
        sampled.tick();
    }
    sampled.now += 200ms;
    sampled.tick();
    sampled.poll_all();
    sampled.tick();
    const std::vector<HeatEpoch> epochs = sampled.collector.after(sampled.seen, 10);
    ASSERT_EQ(epochs.size(), 5U);
    EXPECT_EQ(epochs.front().began_utc_ns, began);
    EXPECT_EQ(epochs.back().ended_utc_ns, began + Nanoseconds{1s}.count());
    EXPECT_TRUE(std::ranges::all_of(epochs, [](const HeatEpoch& one) {
        return one.late_workers == 0 && one.limits.size() == 1;
    }));
}

// A worker that stands still holds up no epoch; what it has comes in the first that it is there
// for, and nothing of it is read while it may write.
TEST(Heatmap, AWorkerThatStandsStillComesLater) {
    Sampled sampled{rules("mode: enforce"), 2};
    sampled.watch_all();
    sampled.send("10.0.0.1", 3, 0);
    sampled.send("10.0.0.1", 2, 1);
    sampled.poll_all();
    for (int second = 0; second < 2; ++second) {  // worker 1 makes no turn
        sampled.now += HeatCollector::kEpoch;
        sampled.tick();
        (void)sampled.box.poll(0);
        sampled.tick();
    }
    const std::vector<HeatEpoch> late = sampled.collector.after(sampled.seen, 10);
    ASSERT_EQ(late.size(), 1U);  // the second one waits for its own end
    EXPECT_EQ(late[0].late_workers, 1U);
    EXPECT_EQ(by_key(sampled.limit(late[0])).at("10.0.0.1").offered, 3U);
    sampled.seen = late[0].number;
    (void)sampled.box.poll(1);
    sampled.tick();
    const HeatEpoch next = sampled.latest();
    EXPECT_EQ(next.late_workers, 0U);
    ASSERT_EQ(sampled.limit(next).samples.size(), 1U);
    EXPECT_EQ(sampled.limit(next).samples[0].offered, 2U);
    // It is back.
    sampled.send("10.0.0.1", 1, 1);
    EXPECT_EQ(sampled.limit(sampled.end_epoch()).samples.at(0).offered, 1U);
    EXPECT_EQ(sampled.collector.stats().late_workers, 1U);
}

TEST(Heatmap, NamesHaveTheFieldsOfAFewPackets) {
    Sampled sampled{rules("mode: enforce")};
    sampled.watch_all();
    for (std::uint16_t port = 0; port < 12; ++port) {
        sampled.send(udp().src("10.0.0.1").dst("192.0.2.7").dport(1000 + port));
    }
    const HeatEpoch epoch = sampled.end_epoch();
    const std::vector<NamedHeatKey>& names = sampled.limit(epoch).names;
    ASSERT_EQ(names.size(), 1U);
    EXPECT_EQ(names[0].key, "10.0.0.1");
    ASSERT_EQ(names[0].packets.size(), kMostPacketsOfKey);
    const HeatPacket expected{{{"ip.src", "10.0.0.1"},
                               {"ip.dst", "192.0.2.7"},
                               {"ip.proto", "17"},
                               {"l4.dport", "1000"}}};
    EXPECT_EQ(names[0].packets[0], expected);
}

std::string address(std::size_t key) {
    return "10." + std::to_string((key >> 16) & 255) + "." + std::to_string((key >> 8) & 255) +
           "." + std::to_string(key & 255);
}

// Half steps of log2, as the maps have them.
std::size_t bucket_of(std::uint64_t offered) {
    return offered == 0 ? 0
                        : 1 + static_cast<std::size_t>(std::log2(static_cast<double>(offered)) * 2);
}

// Drawn populations beside the samples of four workers, of which one has most of the packets: each
// bucket of both maps lies within 4 sigma of what is exact.
TEST(Heatmap, SampledMapsLieAroundTheExactOnes) {
    constexpr std::size_t kWorkers = 4;
    constexpr std::size_t kKeys = 40'000;
    constexpr std::uint64_t kBurst = 20;
    Sampled sampled{rules("mode: enforce"), kWorkers, 2 * kKeys};
    std::mt19937_64 random{40};
    std::lognormal_distribution<double> amount{0.5, 0.9};
    std::vector<std::array<std::uint64_t, kWorkers>> keys(kKeys);  // packets by worker
    for (std::size_t key = 0; key < kKeys; ++key) {
        const auto packets = static_cast<std::uint64_t>(amount(random)) + 1;
        for (std::uint64_t i = 0; i < packets; ++i) {
            const std::uint64_t dice = random() % 100;
            const std::size_t at = dice < 80 ? 0 : dice < 95 ? 1 : dice < 99 ? 2 : 3;
            keys[key][at] += 1;
            sampled.send(udp().src(address(key)), at);
        }
        if (key % 64 == 0) {
            sampled.poll_all();
        }
    }
    const HeatEpoch epoch = sampled.end_epoch();
    const HeatLimit& limit = sampled.limit(epoch);
    EXPECT_GE(limit.sampling_bits, 2);
    EXPECT_LE(limit.sampling_bits, 4);
    EXPECT_LT(limit.left_out, 20U);
    std::map<std::size_t, double> offered_exact;
    std::map<std::size_t, double> left_exact;
    for (const auto& key : keys) {
        std::uint64_t all = 0;
        std::uint64_t most = 0;  // at one worker
        for (const std::uint64_t here : key) {
            all += here;
            most = std::max(most, here);
        }
        offered_exact[bucket_of(all)] += 1;
        left_exact[most > kBurst ? std::uint8_t{0} : share(kBurst - most, kBurst)] += 1;
    }
    std::map<std::size_t, double> offered;
    std::map<std::size_t, double> left;
    for (const HeatSample& sample : limit.samples) {
        offered[bucket_of(sample.offered)] += 1;
        left[sample.least_left] += 1;
    }
    const double one_in = std::exp2(limit.sampling_bits);
    const auto compare = [&](const auto& exact, const auto& seen) {
        for (const auto& [bucket, groups] : seen) {
            EXPECT_TRUE(exact.contains(bucket)) << bucket;
        }
        for (const auto& [bucket, groups] : exact) {
            const auto found = seen.find(bucket);
            const double about = found == seen.end() ? 0 : found->second * one_in;
            EXPECT_NEAR(about, groups, 4 * std::sqrt(groups * (one_in - 1))) << bucket;
        }
    };
    compare(offered_exact, offered);
    compare(left_exact, left);
    EXPECT_NEAR(static_cast<double>(limit.samples.size()) * one_in, kKeys,
                4 * std::sqrt(kKeys * (one_in - 1)));
}

// A crowd that no epoch before has announced: the worker watches fewer by itself, and the map is as
// true as ever.
TEST(Heatmap, AFloodOfNewKeysLeavesNothingOut) {
    constexpr std::size_t kKeys = 100'000;
    Sampled sampled{rules("mode: enforce"), 1, 2 * kKeys};
    sampled.watch_all();
    for (std::size_t key = 0; key < kKeys; ++key) {
        sampled.send(udp().src(address(key)));
        if (key % 256 == 0) {
            sampled.poll_all();
        }
    }
    const HeatEpoch epoch = sampled.end_epoch();
    const HeatLimit& limit = sampled.limit(epoch);
    EXPECT_GE(limit.sampling_bits, 4);
    const double one_in = std::exp2(limit.sampling_bits);
    EXPECT_NEAR(static_cast<double>(limit.samples.size()) * one_in, kKeys,
                4 * std::sqrt(kKeys * (one_in - 1)));
    EXPECT_LT(limit.left_out, 20U);
    EXPECT_LE(limit.names.size(), std::size_t{HeatCollector::kNames});
}

}  // namespace
}  // namespace sluice::heatmap_test
