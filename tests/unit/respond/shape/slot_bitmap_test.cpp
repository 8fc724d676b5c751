#include "lib/respond/shape/slot_bitmap.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>

namespace sluice {
namespace {

std::uint32_t next_of(const std::set<std::uint32_t>& taken, std::uint32_t from) {
    const auto at = taken.lower_bound(from);
    return at != taken.end() ? *at : *taken.begin();
}

TEST(SlotBitmap, FindsOneHoweverFarItLies) {
    for (const std::uint32_t slot :
         {0U, 1U, 63U, 64U, 4095U, 4096U, 262'143U, 262'144U, SlotBitmap::kSlots - 1}) {
        SlotBitmap bitmap;
        bitmap.set(slot);
        for (const std::uint32_t from :
             {0U, 1U, 62U, 63U, 64U, 65U, 4095U, 4096U, 262'144U, 300'000U, slot,
              (slot + 1) % SlotBitmap::kSlots, SlotBitmap::kSlots - 1}) {
            EXPECT_EQ(bitmap.next(from), slot) << "from " << from;
        }
    }
}

// Dense and sparse in turn, against a sorted set.
TEST(SlotBitmap, AgreesWithASortedSet) {
    std::mt19937 random{7};
    SlotBitmap bitmap;
    std::set<std::uint32_t> taken{5};
    bitmap.set(5);
    for (unsigned step = 0; step < 200'000; ++step) {
        const std::uint32_t range = step % 3 == 0 ? SlotBitmap::kSlots : 4096;
        const auto slot = static_cast<std::uint32_t>(random() % range);
        if (random() % 2 == 0 || taken.size() == 1) {
            bitmap.set(slot);
            taken.insert(slot);
        } else {
            const std::uint32_t gone = next_of(taken, slot);
            bitmap.clear(gone);
            taken.erase(gone);
        }
        const auto from = static_cast<std::uint32_t>(random() % SlotBitmap::kSlots);
        ASSERT_EQ(bitmap.next(from), next_of(taken, from));
        ASSERT_EQ(bitmap.next(slot), next_of(taken, slot));
    }
}

}  // namespace
}  // namespace sluice
