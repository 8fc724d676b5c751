#include "dataplane/port.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

struct Row {
    std::string_view name;
    PortOffer outside;
    PortOffer inside;
    std::optional<unsigned> asked;
    std::size_t workers;
    std::uint16_t want;
};

TEST(ChooseQueues, NoMoreThanEitherPortOffers) {
    const PortOffer nic{.max_queues = 64, .can_spread = true};
    const PortOffer small{.max_queues = 2, .can_spread = true};
    const PortOffer tap{.max_queues = 16, .can_spread = false};
    const Row rows[] = {
        {"one for each worker", nic, nic, std::nullopt, 4, 4},
        {"as many as the smaller offers", nic, small, std::nullopt, 4, 2},
        {"one where flows cannot be spread", nic, tap, std::nullopt, 4, 1},
        {"unless asked for", tap, tap, 2, 4, 2},
        {"never more than workers", nic, nic, 8, 3, 3},
        {"never none", {.max_queues = 0}, nic, std::nullopt, 2, 1},
    };
    for (const Row& row : rows) {
        PairOptions pair;
        pair.outside.queues = row.asked;
        pair.inside.queues = row.asked;
        EXPECT_EQ(choose_queues(pair, row.outside, row.inside, row.workers), row.want) << row.name;
    }
}

}  // namespace
}  // namespace sluice
