#include "lib/engine/stage/preview_burst.hpp"

#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace sluice::preview_burst_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::udp;

constexpr Instant kStart{1h};
const KeyHasher kHash{test::kBoxSecret};
constexpr const char* kRules = R"(version: 1
rules:
  - {id: deny, mode: enforce, when: l4.dport eq 7, on_match: drop}
  - id: names
    mode: enforce
    when: l4.dport eq 53
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]
)";

LoadedRules draft(const std::string& rule) {
    CompiledRules rules = test::enforced(
        {.file = "d",
         .text = "version: 1\nrules:\n  - {id: draft, mode: monitor, " + rule + "}\n"});
    return test::loaded(std::move(rules.set), {.origins = OriginTable::LeftOut});
}

// A preview of a draft over bursts of a box, and what is shown of it.
class Previewed {
public:
    explicit Previewed(const std::string& rule, const std::string& replaced = "",
                       const std::string& behind = "")
        : trace_{{.rule = replaced, .preview = kHash, .behind = behind}, draft(rule), 1} {}

    void run(const std::vector<std::vector<std::byte>>& frames, Instant at = kStart) {
        Burst burst;
        test::fill(burst, frames);
        box_.run(burst, at);
        trace_burst(trace_, 0,
                    {.burst = burst,
                     .set = box_.set(),
                     .rule = rule_called(trace_.terms().rule, box_.set()),
                     .behind = rule_called(trace_.terms().behind, box_.set()),
                     .evaluated = true,
                     .now = {at, {}}});
        EXPECT_FALSE(may_trace(trace_, 0, burst, kNoRule, at));
    }
    // Packets by key, after long enough for all to be shown. Keys are sampled by the digest of
    // their bytes.
    std::map<std::string, std::uint64_t> packets() {
        for (int i = 0; i < 256; ++i) {
            tap().tend(kStart + 1min);
        }
        std::map<std::uint64_t, std::string> names;
        tap().keys().drain([&](const PreviewKeyRecord& key) {
            const ByteView bytes = std::span{key.bytes}.first(key.size);
            EXPECT_EQ(key.digest, preview_digest(kHash.digest(bytes)));
            names[key.digest] = text_of_key(bytes, [](std::uint64_t) { return std::string{}; });
        });
        std::map<std::string, std::uint64_t> found;
        tap().ring().drain([&](const PreviewRecord& record) {
            found[names[record.digests[0]]] += record.amounts.packets;
        });
        return found;
    }
    PreviewTap& tap() { return *trace_.preview_tap(0); }

private:
    Box box_{kRules};
    Trace trace_;
};
using Packets = std::map<std::string, std::uint64_t>;

constexpr const char* kLimits =
    "limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}], key: [ip.src]";

std::vector<std::vector<std::byte>> five() {
    return {udp().src("10.0.0.1").dport(9).bytes(), udp().src("10.0.0.2").dport(9).bytes(),
            udp().src("10.0.0.1").dport(9).bytes(), udp().src("10.0.0.3").dport(10).bytes(),
            udp().src("10.0.0.1").dport(7).bytes()};
}

TEST(Preview, ShowsWhatTheDraftMatchesAndWhatComesToIt) {
    Previewed previewed{std::string{"when: 'l4.dport in {7 9}', "} + kLimits};
    previewed.run(five());
    EXPECT_EQ(previewed.packets(), (Packets{{"10.0.0.1", 2}, {"10.0.0.2", 1}}));
    EXPECT_EQ(previewed.tap().counted().packets, 3U);
    EXPECT_EQ(previewed.tap().decided(), 1U);
    EXPECT_EQ(previewed.tap().keyless(), 0U);
}

// The second is refused by the rule in force: it comes to the draft that replaces that rule.
TEST(Preview, WhatTheReplacedRuleRefusesComesToTheDraft) {
    const std::vector<std::vector<std::byte>> two{udp().src("10.0.0.1").dport(53).bytes(),
                                                  udp().src("10.0.0.1").dport(53).bytes()};
    const std::string rule = std::string{"when: l4.dport eq 53, "} + kLimits;
    Previewed beside{rule};
    beside.run(two);
    EXPECT_EQ(beside.packets(), (Packets{{"10.0.0.1", 1}}));
    EXPECT_EQ(beside.tap().decided(), 1U);
    Previewed replacing{rule, "names"};
    replacing.run(two);
    EXPECT_EQ(replacing.packets(), (Packets{{"10.0.0.1", 2}}));
    EXPECT_EQ(replacing.tap().decided(), 0U);
}

// Both rules of the set decide on what the draft matches: `deny` on sight, `names` by its limit.
TEST(Preview, WhatRulesBehindTheDraftDecideComesToOneThatDecidesOnSight) {
    const std::vector<std::vector<std::byte>> frames{
        udp().src("10.0.0.1").dport(7).bytes(), udp().src("10.0.0.1").dport(53).bytes(),
        udp().src("10.0.0.1").dport(53).bytes(), udp().src("10.0.0.1").dport(9).bytes()};
    struct Row {
        const char* behind;
        std::uint64_t on_sight;
        std::uint64_t metered;
    };
    for (const Row& row : {Row{"", 2, 2}, Row{"names", 3, 2}, Row{"deny", 4, 2}}) {
        SCOPED_TRACE(row.behind);
        Previewed on_sight{"on_match: drop", "", row.behind};
        on_sight.run(frames);
        EXPECT_EQ(on_sight.tap().counted().packets, row.on_sight);
        EXPECT_EQ(on_sight.tap().decided(), frames.size() - row.on_sight);
        Previewed metered{kLimits, "", row.behind};
        metered.run(frames);
        EXPECT_EQ(metered.tap().counted().packets, row.metered) << "what is refused spends nothing";
    }
}

TEST(Preview, PacketsWithoutTheKeyAreCountedAlone) {
    Previewed previewed{
        "limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}], key: [tcp.flags]"};
    previewed.run(five());
    EXPECT_EQ(previewed.packets(), Packets{});
    EXPECT_EQ(previewed.tap().keyless(), 4U);
}

TEST(Preview, ADraftThatDecidesAloneHasNoKeyToLack) {
    Previewed previewed{"on_match: drop"};
    previewed.run(five());
    EXPECT_EQ(previewed.packets(), Packets{});
    EXPECT_EQ(previewed.tap().counted().packets, 4U);
    EXPECT_EQ(previewed.tap().keyless(), 0U);
}

TEST(Preview, KeysOfSeveralPartsAreShownByTheirBytes) {
    Previewed previewed{
        "limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}], key: ['prefix(ip.src, 31|64)', "
        "l4.dport]"};
    previewed.run(five());
    EXPECT_EQ(previewed.packets(),
              (Packets{{"10.0.0.0/31|9", 2}, {"10.0.0.2/31|9", 1}, {"10.0.0.2/31|10", 1}}));
    EXPECT_EQ(previewed.tap().keyless(), 0U);
}

TEST(Preview, ADraftWithoutAKeyHasOneGroup) {
    Previewed previewed{"limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}], key: []"};
    previewed.run(five());
    EXPECT_EQ(previewed.packets(), (Packets{{"", 4}}));
    EXPECT_FALSE(previewed.tap().has_key());
}

// Limits of connections count what opens one, and bytes are those that `per: byte` charges.
TEST(Preview, CountsAllThatALimitMayCount) {
    Previewed previewed{std::string{"when: ip.proto eq 6, "} + kLimits};
    previewed.run({test::tcp().src("10.0.0.1").flags(0x02).bytes(),
                   test::tcp().src("10.0.0.1").flags(0x10).bytes()});
    EXPECT_EQ(previewed.tap().counted().packets, 2U);
    EXPECT_EQ(previewed.tap().counted().openings, 1U);
    EXPECT_EQ(previewed.tap().counted().units, 0U);
    EXPECT_GE(previewed.tap().counted().bytes, 80U);
}

}  // namespace
}  // namespace sluice::preview_burst_test
