#include "lib/match/found_rules.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace sluice::found_rules_test {
namespace {

std::vector<std::uint32_t> of(const FoundRules& found, std::size_t number) {
    return {found.of(number).begin(), found.of(number).end()};
}

TEST(FoundRules, GivesEachPacketsInOrderAndOnce) {
    std::mt19937_64 generator{5};
    const auto random = [&] { return static_cast<std::uint32_t>(generator() >> 32); };
    FoundRules found;
    for (int burst = 0; burst < 400; ++burst) {
        found.clear();
        FoundRules::Adder adder{found};
        std::set<std::uint32_t> always;
        for (unsigned i = burst % 2 == 0 ? 0 : random() % 20; i > 0; --i) {
            always.insert(random() % 100);
        }
        std::vector<std::set<std::uint32_t>> wanted(kMaxSubjects - random() % 3);
        for (std::size_t packet = 0; packet < wanted.size(); ++packet) {
            // None, one, two that may be one, a few, and more than are put in order in place.
            const unsigned count = random() % 4 == 0 ? random() % 60 : random() % 4;
            const unsigned most = random() % 2 == 0 ? 3U : std::uint32_t{RuleBits::kSize};
            for (unsigned i = 0; i < count; ++i) {
                const std::uint32_t rule = random() % most;
                wanted[packet].insert(rule);
                adder.add(packet, rule);
                adder.add_if(false, packet, random());
            }
            wanted[packet].insert(always.begin(), always.end());
        }
        found.settle(wanted.size(), std::vector<std::uint32_t>(always.begin(), always.end()));
        ASSERT_EQ(found.packets(), wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            ASSERT_EQ(of(found, i), std::vector<std::uint32_t>(wanted[i].begin(), wanted[i].end()));
        }
    }
}

TEST(FoundRules, HasRoomForAllRulesOfAllPackets) {
    FoundRules found;
    found.clear();
    FoundRules::Adder adder{found};
    for (std::size_t packet = 0; packet < kMaxSubjects; ++packet) {
        for (std::uint32_t clause = kMaxClauses; clause-- > 0;) {
            adder.add(packet, clause % RuleBits::kSize);
        }
    }
    found.settle(kMaxSubjects, {});
    for (std::size_t packet = 0; packet < kMaxSubjects; ++packet) {
        ASSERT_EQ(found.of(packet).size(), RuleBits::kSize);
        EXPECT_EQ(found.of(packet).front(), 0U);
        EXPECT_EQ(found.of(packet).back(), RuleBits::kSize - 1);
    }
}

}  // namespace
}  // namespace sluice::found_rules_test
