#include "lib/l7/http1/asked_requests.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace sluice::asked_requests_test {
namespace {

constexpr AskedRequest kGet{};
constexpr AskedRequest kHead{.method = AskedMethod::Head};
constexpr AskedRequest kWebSocket{.passes_upgrade = true};

// Pushed until there is no room.
unsigned room_for(AskedRequests& requests, AskedRequest one, AskedRequest other, unsigned most) {
    unsigned count = 0;
    while (count < most && requests.push(count % 2 == 0 ? one : other)) {
        ++count;
    }
    return count;
}

TEST(AskedRequests, HoldsRunsOfThousands) {
    AskedRequests requests;
    EXPECT_TRUE(requests.empty());
    EXPECT_EQ(room_for(requests, kGet, kGet, 8000), 8000U);
    EXPECT_EQ(room_for(requests, kHead, kHead, 8000), 8000U);
    EXPECT_EQ(room_for(requests, kWebSocket, kWebSocket, 8000), 8000U);
    EXPECT_FALSE(requests.push(kHead)) << "a fourth run";
    for (const AskedRequest expected : {kGet, kHead, kWebSocket}) {
        for (int i = 0; i < 8000; ++i) {
            ASSERT_EQ(requests.front(), expected);
            requests.pop();
        }
    }
    EXPECT_TRUE(requests.empty());
}

TEST(AskedRequests, HoldsSixteenInWhateverOrder) {
    AskedRequests requests;
    EXPECT_EQ(room_for(requests, kGet, kHead, 100), AskedRequests::kMostListed);
    EXPECT_EQ(requests.front(), kGet) << "what does not fit changes nothing";
    requests.pop();
    EXPECT_EQ(requests.front(), kHead);
    EXPECT_TRUE(requests.push(kGet));
    EXPECT_FALSE(requests.push(kHead));
}

TEST(AskedRequests, ARunHasAnEnd) {
    AskedRequests requests;
    const unsigned most = AskedRequests::kMostRuns * AskedRequests::kMostOfRun;
    EXPECT_EQ(room_for(requests, kGet, kGet, most + 1), most);
    requests.pop();
    EXPECT_EQ(requests.front(), kGet);
}

// Whatever is pushed and popped, the order is that of a queue, which is refused only where it has
// more than 16.
TEST(AskedRequests, IsAQueue) {
    std::minstd_rand chance{36};
    unsigned refused = 0;
    for (int round = 0; round < 300; ++round) {
        AskedRequests requests;
        std::deque<AskedRequest> queue;
        AskedRequest next;
        for (int step = 0; step < 200; ++step) {
            if (chance() % 8 == 0) {
                next = {.method = AskedMethod{static_cast<std::uint8_t>(chance() % 3)},
                        .passes_upgrade = chance() % 4 == 0};
            }
            if (chance() % 16 < 9) {
                if (requests.push(next)) {
                    queue.push_back(next);
                } else {
                    ++refused;
                    ASSERT_GE(queue.size(), AskedRequests::kMostListed);
                }
            } else if (!queue.empty()) {
                requests.pop();
                queue.pop_front();
            }
            ASSERT_EQ(requests.empty(), queue.empty());
            if (!queue.empty()) {
                ASSERT_EQ(requests.front(), queue.front());
            }
        }
    }
    EXPECT_GT(refused, 0U);
}

}  // namespace
}  // namespace sluice::asked_requests_test
