#include "lib/l7/stream/refused_connections.hpp"

#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace sluice::refused_connections_test {
namespace {

constexpr std::uint32_t kSilence = 1000;

TEST(RefusedConnections, AreRefusedUntilTheyHaveBeenSilent) {
    RefusedConnections refused{100, kSilence, FullHeads::Evict};
    EXPECT_FALSE(refused.may_have_any(0));
    EXPECT_TRUE(refused.add(7, 10));
    EXPECT_TRUE(refused.may_have_any(10));
    EXPECT_FALSE(refused.meets(8, 10));
    EXPECT_TRUE(refused.meets(7, 10 + kSilence));
    EXPECT_TRUE(refused.meets(7, 10 + 2 * kSilence)) << "it was heard of since";
    EXPECT_TRUE(refused.may_have_any(10 + 3 * kSilence));
    EXPECT_FALSE(refused.may_have_any(11 + 3 * kSilence));
    EXPECT_FALSE(refused.meets(7, 11 + 3 * kSilence));
}

TEST(RefusedConnections, OneThatIsThereTakesNoOtherPlace) {
    RefusedConnections refused{2, kSilence, FullHeads::Evict};
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(refused.add(7, 10));
    }
    for (std::uint64_t other = 0; other < 8; ++other) {
        EXPECT_TRUE(refused.add(other << 40, 10)) << other;
    }
    EXPECT_TRUE(refused.meets(7, 10));
}

// Six eighths of the places are filled before one in ten thousand is lost.
TEST(RefusedConnections, NearlyAllPlacesAreUsed) {
    constexpr std::uint64_t kConnections = 1 << 14;
    RefusedConnections refused{kConnections, kSilence, FullHeads::Evict};
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random{seed};
    std::uint64_t lost = 0;
    for (std::uint64_t i = 0; i < 6 * kConnections; ++i) {
        lost += refused.add(random(), 10) ? 0 : 1;
    }
    EXPECT_LE(lost, 6 * kConnections / 10'000);
}

// The longest silent goes where both lines are full.
TEST(RefusedConnections, TheLongestSilentGoes) {
    RefusedConnections refused{2, kSilence, FullHeads::Evict};
    for (std::uint64_t i = 1; i <= 16; ++i) {
        ASSERT_TRUE(refused.add(i | i << 40, static_cast<std::uint32_t>(i))) << i;
    }
    EXPECT_FALSE(refused.add(std::uint64_t{99} << 40, 20));
    EXPECT_TRUE(refused.meets(std::uint64_t{99} << 40, 20));
    int gone = 0;
    for (std::uint64_t i = 1; i <= 16; ++i) {
        const bool is_gone = !refused.meets(i | i << 40, 20);
        gone += is_gone ? 1 : 0;
        EXPECT_TRUE(!is_gone || i <= 2) << i << " is younger than the oldest of either line";
    }
    EXPECT_EQ(gone, 1);
}

// Or none goes: what has no place is refused with all that share its lines, for as long as it would
// have been; that others are heard of in the meantime does not make it longer.
TEST(RefusedConnections, NoneGoesWhereTheyStayFull) {
    RefusedConnections refused{2, kSilence, FullHeads::Refuse};
    constexpr std::uint64_t kLost = std::uint64_t{99} << 40;
    constexpr std::uint64_t kStranger = std::uint64_t{77} << 40;
    for (std::uint64_t i = 1; i <= 16; ++i) {
        EXPECT_FALSE(refused.may_be_one(kStranger, 20)) << i;
        ASSERT_TRUE(refused.add(i | i << 40, static_cast<std::uint32_t>(i))) << i;
    }
    EXPECT_TRUE(refused.add(kLost, 20));
    for (std::uint64_t i = 1; i <= 16; ++i) {
        EXPECT_TRUE(refused.meets(i | i << 40, 20)) << i;
    }
    for (const std::uint64_t untold : {kLost, kStranger}) {
        EXPECT_FALSE(refused.meets(untold, 20 + kSilence));
        EXPECT_TRUE(refused.may_be_one(untold, 20 + kSilence));
        EXPECT_FALSE(refused.may_be_one(untold, 21 + kSilence));
    }
    EXPECT_FALSE(refused.may_have_any(21 + kSilence));
}

// Digests at random beside a map of when each was heard of last.
class BesideAMap {
public:
    BesideAMap(std::size_t connections, std::uint64_t seed)
        : refused_{connections, kSilence, FullHeads::Evict}, random_{seed} {}

    void step() {
        now_ += static_cast<std::uint32_t>(random_() % 8);
        const std::uint64_t digest = (random_() % 1000 + 1) * 0x9E37'79B9'7F4A'7C15U;
        random_() % 2 == 0 ? add(digest) : meet(digest);
    }
    [[nodiscard]] std::uint64_t lost() const { return lost_; }
    [[nodiscard]] std::uint64_t missing() const { return missing_; }

private:
    void add(std::uint64_t digest) {
        lost_ += refused_.add(digest, now_) ? 0 : 1;
        heard_[digest] = now_;
    }
    void meet(std::uint64_t digest) {
        const auto known = heard_.find(digest);
        const bool is_known = known != heard_.end() && now_ - known->second <= kSilence;
        const bool is_there = refused_.meets(digest, now_);
        EXPECT_TRUE(!is_there || is_known) << "it was never added, or has been silent";
        missing_ += is_known && !is_there ? 1 : 0;
        if (is_there) {
            heard_[digest] = now_;
        } else {
            heard_.erase(digest);
        }
    }

    RefusedConnections refused_;
    std::mt19937_64 random_;
    std::unordered_map<std::uint64_t, std::uint32_t> heard_;
    std::uint32_t now_ = 5;
    std::uint64_t lost_ = 0;
    std::uint64_t missing_ = 0;
};

// Some 250 are refused at once, of which 512 places lose none and 64 many; whatever is missing
// add() has said was lost.
TEST(RefusedConnections, AgreeWithAMap) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    BesideAMap roomy{64, seed};
    BesideAMap small{8, seed};
    for (int i = 0; i < test::rounds(200'000); ++i) {
        roomy.step();
        small.step();
    }
    EXPECT_EQ(roomy.lost(), 0U);
    EXPECT_EQ(roomy.missing(), 0U);
    EXPECT_GT(small.missing(), 0U);
    EXPECT_LE(small.missing(), small.lost());
}

}  // namespace
}  // namespace sluice::refused_connections_test
