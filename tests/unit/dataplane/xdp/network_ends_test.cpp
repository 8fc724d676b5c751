#include "dataplane/xdp/network_ends.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace sluice::network_ends_test {
namespace {

NetworkEnds::End end(std::uint64_t at, std::uint8_t host = 1) {
    NetworkEnds::End made{.at = at, .network = {}};
    made.network.length = SLUICE_VERSION_BITS + 32;
    made.network.from.version = 4;
    made.network.from.bytes[3] = host;
    return made;
}

std::vector<std::uint64_t> taken(NetworkEnds& ends, std::uint64_t now) {
    std::vector<std::uint64_t> all;
    while (const auto one = ends.take_ended(now)) {
        all.push_back(one->at);
    }
    return all;
}

TEST(NetworkEnds, WhatEndsFirstIsTakenFirstAndNothingBeforeItsEnd) {
    NetworkEnds ends;
    EXPECT_FALSE(ends.take_ended(~std::uint64_t{0}).has_value());
    std::mt19937_64 random{5};
    std::vector<std::uint64_t> all;
    for (int i = 0; i < 1000; ++i) {
        all.push_back(1 + random() % 500);
        ends.add(end(all.back(), static_cast<std::uint8_t>(i)));
    }
    std::sort(all.begin(), all.end());
    const auto later = std::upper_bound(all.begin(), all.end(), 250U);
    EXPECT_EQ(taken(ends, 250), (std::vector<std::uint64_t>{all.begin(), later}));
    EXPECT_EQ(taken(ends, 500), (std::vector<std::uint64_t>{later, all.end()}));
    EXPECT_EQ(ends.size(), 0U);
}

TEST(NetworkEnds, WhatMeansSomethingStaysOnce) {
    NetworkEnds ends;
    for (int i = 0; i < 10; ++i) {
        ends.add(end(30, 1));
        ends.add(end(30, 2));
        ends.add(end(10, 3));
        ends.add(end(20, 1));
    }
    ends.keep_if([](const NetworkEnds::End& one) { return one.network.from.bytes[3] != 3; });
    EXPECT_EQ(ends.size(), 3U);
    ends.add(end(15));
    EXPECT_EQ(taken(ends, 30), (std::vector<std::uint64_t>{15, 20, 30, 30}));
}

}  // namespace
}  // namespace sluice::network_ends_test
