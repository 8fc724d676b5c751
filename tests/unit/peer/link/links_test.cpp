#include "lib/peer/link/links.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sluice::links_test {
namespace {

constexpr std::array<LinkRing, kLinkRings> kRings{LinkRing::Amounts, LinkRing::Totals,
                                                  LinkRing::Questions, LinkRing::Answers,
                                                  LinkRing::Connections};
constexpr LinkSizes kSizes{.merge = 8, .reserve = 4, .connections = 2};
constexpr std::array<std::size_t, kLinkRings> kRecords{8, 8, 4, 4, 2};

// Says where it was written.
struct Message {
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t ring = 0;
    std::uint64_t number = 0;
    std::array<std::byte, 32> rest{};

    bool operator==(const Message&) const = default;
};
static_assert(sizeof(Message) == sizeof(RingLine));

struct End {
    std::size_t from;
    std::size_t to;
    std::size_t which;
    std::unique_ptr<KeptRing<Message>> ring;
};
std::vector<End> all_rings(Links& links) {
    std::vector<End> ends;
    for (std::size_t from = 0; from < links.workers(); ++from) {
        for (std::size_t to = 0; to < links.workers(); ++to) {
            for (std::size_t which = 0; which < kLinkRings; ++which) {
                ends.push_back(
                    {from, to, which,
                     std::make_unique<KeptRing<Message>>(links.place(from, to, kRings[which]))});
            }
        }
    }
    return ends;
}

// Each has all of its room, however full the others are, and holds what was written to it.
TEST(Links, NoRingTakesRoomOrRecordsFromAnother) {
    Links links{3, kSizes};
    std::vector<End> ends = all_rings(links);
    for (const End& end : ends) {
        std::uint64_t number = 0;
        while (end.ring->put({end.from, end.to, end.which, number, {}})) {
            ++number;
        }
        EXPECT_EQ(number, kRecords[end.which]);
    }
    for (const End& end : ends) {
        std::uint64_t number = 0;
        end.ring->drain([&](const Message& message) {
            EXPECT_EQ(message, (Message{end.from, end.to, end.which, number++, {}}));
        });
        EXPECT_EQ(number, kRecords[end.which]);
    }
}

// A worker that does not read one kind of message holds up none of another kind.
TEST(Links, AProtocolThatIsNotReadHoldsUpNoOther) {
    Links links{2, kSizes};
    std::vector<End> ends = all_rings(links);
    const auto ring_of = [&](std::size_t from, std::size_t to, LinkRing which) {
        const std::size_t at = (from * 2 + to) * kLinkRings + static_cast<std::size_t>(which);
        return ends[at].ring.get();
    };
    for (const LinkRing full : kRings) {
        while (ring_of(0, 1, full)->put({})) {
        }
        for (const LinkRing other : kRings) {
            if (other != full) {
                for (int times = 0; times < 20; ++times) {
                    EXPECT_TRUE(ring_of(0, 1, other)->put({}));
                    EXPECT_TRUE(ring_of(1, 0, other)->put({}));
                    ring_of(0, 1, other)->drain([](const Message&) {});
                    ring_of(1, 0, other)->drain([](const Message&) {});
                }
            }
        }
        ring_of(0, 1, full)->drain([](const Message&) {});
    }
}

TEST(Links, AWorkersLinksTakeNoMoreMemoryAmongMany) {
    const auto lines = [](std::size_t workers) {
        const LinkSizes sizes = link_sizes(workers);
        return workers * (2 * sizes.merge + 2 * sizes.reserve + sizes.connections);
    };
    EXPECT_EQ(link_sizes(1).merge, 2048U);
    EXPECT_EQ(link_sizes(1).reserve, 1024U);
    for (std::size_t workers = 8; workers <= 128; workers *= 2) {
        EXPECT_EQ(lines(workers), lines(8)) << workers;
    }
}

}  // namespace
}  // namespace sluice::links_test
