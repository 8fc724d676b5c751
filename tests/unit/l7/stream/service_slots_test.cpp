#include "lib/l7/stream/service_slots.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::service_slots_test {
namespace {

LoadedServices services(const std::vector<std::string>& ids) {
    LoadedServices services;
    for (const std::string& id : ids) {
        services.all.emplace_back().id = id;
    }
    return services;
}

// The slots that begin with these services.
std::vector<std::uint16_t> adopt(ServiceSlots& slots, const std::vector<std::string>& ids) {
    std::vector<std::uint16_t> begun;
    slots.adopt(services(ids), [&](std::uint16_t slot) { begun.push_back(slot); });
    return begun;
}

TEST(ServiceSlots, ServicesKeepTheirsWhateverTheirPlaces) {
    ServiceSlots slots;
    EXPECT_EQ(adopt(slots, {"a", "b"}), (std::vector<std::uint16_t>{0, 1}));
    EXPECT_EQ(adopt(slots, {"b", "a"}), (std::vector<std::uint16_t>{}));
    EXPECT_EQ(slots.slot_of(0), 1);
    EXPECT_EQ(slots.index_of(1), 0);
}

// Connections of a service that is gone still name its slot.
TEST(ServiceSlots, ANewServiceTakesTheSlotThatHasBeenFreeForLongest) {
    ServiceSlots slots;
    (void)adopt(slots, {"a", "b"});
    EXPECT_EQ(adopt(slots, {"a", "c"}), (std::vector<std::uint16_t>{2}));
    EXPECT_EQ(slots.index_of(1), ServiceSlots::kNone);
    for (std::size_t i = 3; i < kMaxServices; ++i) {
        EXPECT_EQ(adopt(slots, {"a", "n" + std::to_string(i)}),
                  (std::vector<std::uint16_t>{static_cast<std::uint16_t>(i)}));
    }
    EXPECT_EQ(adopt(slots, {"a", "last"}), (std::vector<std::uint16_t>{1})) << "0 is taken";
}

// Another process's connections name them.
TEST(ServiceSlots, SlotsOfAnEarlierProcessAreItsServicesStill) {
    ServiceSlots before;
    (void)adopt(before, {"a", "b", "c"});
    ServiceSlots slots;
    slots.take_over(before.names());
    EXPECT_EQ(adopt(slots, {"d", "c", "a"}), (std::vector<std::uint16_t>{3})) << "not b's";
    EXPECT_EQ(slots.slot_of(1), 2);
    EXPECT_EQ(slots.slot_of(2), 0);
    EXPECT_EQ(slots.index_of(1), ServiceSlots::kNone);
}

}  // namespace
}  // namespace sluice::service_slots_test
