#include "lib/l7/stream/recent_bytes.hpp"

#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>

namespace sluice::recent_bytes_test {
namespace {

std::string text_at(const RecentBytes& recent, std::uint32_t place, std::size_t size) {
    const ByteView bytes = recent.at(place, size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(RecentBytes, RoundsItsSizeUp) {
    EXPECT_EQ(RecentBytes::size_for(0), 1U << 17);
    EXPECT_EQ(RecentBytes::size_for((1U << 20) + 1), 2U << 20);
}

TEST(RecentBytes, KnowsPartsOfWhatWasPut) {
    RecentBytes recent{0};
    const std::uint32_t first = recent.put(bytes_of(std::string{"abcdef"}));
    const std::uint32_t second = recent.put(bytes_of(std::string{"ghi"}));
    EXPECT_EQ(text_at(recent, first, 6), "abcdef");
    EXPECT_EQ(text_at(recent, first + 2, 3), "cde");
    EXPECT_EQ(text_at(recent, second, 3), "ghi");
    EXPECT_EQ(text_at(recent, second, 4), "") << "beyond the last byte";
    EXPECT_EQ(text_at(recent, second + 100, 1), "");
}

// Whatever goes over the ring's end and over the last place: what is among the latest bytes is
// there, and whole.
TEST(RecentBytes, TheLatestStayInOnePiece) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random{seed};
    RecentBytes recent{0};
    std::deque<std::pair<std::uint32_t, std::string>> put;
    std::size_t kept = 0;
    for (int round = 0; round < test::rounds(2000); ++round) {
        const std::string text(random() % 3000 + 1, static_cast<char>('a' + round % 26));
        put.emplace_back(recent.put(bytes_of(text)), text);
        kept += text.size();
        // A segment at the end may leave as much behind it unused.
        while (kept > (1U << 17) - 3000) {
            kept -= put.front().second.size();
            put.pop_front();
        }
        for (const auto& [place, bytes] : put) {
            ASSERT_EQ(text_at(recent, place, bytes.size()), bytes);
        }
    }
}

}  // namespace
}  // namespace sluice::recent_bytes_test
