#include "lib/bucket/table/table_reader.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <span>
#include <vector>

namespace sluice::table_reader_test {
namespace {

using namespace std::chrono_literals;

constexpr LimitSlot kSlot = 1;
constexpr Now kNow{Instant{1h}, {}};
const AnyLimit kNumbers = TokenBucketLimit{*Limit::make({Units{1}, 1s}, Units{10})};

TableKey key_number(std::uint64_t number) {
    static const KeyHasher hash{{0x0123'4567'89AB'CDEF, 0xFEDC'BA98'7654'3210}};
    return {hash(7, std::as_bytes(std::span{&number, 1})), kSlot};
}

struct Filled : testing::Test {
    Filled() {
        rows[kSlot] = {.limit = &kNumbers, .in_entry = true};
        store.registry.adopt(rows, 0, kNow.at);
        for (std::uint64_t number = 0; number < kKeys; ++number) {
            file(number);
        }
    }
    void file(std::uint64_t number) {
        const TableKey key = key_number(number);
        store.keys.begin_burst();
        Entry* entry = store.keys.make_place(key, store.registry, kNow);
        ASSERT_NE(entry, nullptr);
        entry->file({kNow.at + 1h, 0}, key.slot_and_tag, {});
        entry->release();
        store.registry.came(kSlot);
    }

    static constexpr std::uint64_t kKeys = 500;
    std::array<SlotRow, 2> rows;
    BucketStore store{1'024, 64};
};

TEST_F(Filled, EveryKeyIsMetOnce) {
    const TableReader table{store};
    std::set<std::uint64_t> digests;
    std::size_t met = 0;
    for (std::size_t at = 0; at < table.size(); ++at) {
        const Entry entry = table.read(at);
        if (!entry.empty()) {
            ++met;
            digests.insert(table.digest(at, entry.slot_and_tag()));
        }
    }
    EXPECT_EQ(met, kKeys);
    EXPECT_EQ(digests.size(), kKeys);
}

TEST_F(Filled, AKeyIsKnownByItsPlaceAlone) {
    const TableReader table{store};
    std::size_t known = 0;
    for (std::size_t at = 0; at < table.size(); ++at) {
        const Entry entry = table.read(at);
        for (std::uint64_t number = 0; !entry.empty() && number < kKeys; ++number) {
            const TableKey key = key_number(number);
            known += key.slot_and_tag == entry.slot_and_tag() && table.is_place_of(key, at) ? 1 : 0;
        }
    }
    EXPECT_EQ(known, kKeys);
    EXPECT_FALSE(table.is_place_of(key_number(0), store.keys.slots()));
}

// In either of its two lines, whichever it lies in here.
TEST_F(Filled, AnotherTableHasTheSameKeyWhereItWouldLie) {
    BucketStore other{1'024, 64};
    const TableReader table{store};
    const TableReader there{other};
    for (std::size_t at = 0; at < table.size(); ++at) {
        const Entry entry = table.read(at);
        if (!entry.empty()) {
            EXPECT_EQ(table.same_key(at, entry.slot_and_tag()).key, entry.key);
            EXPECT_TRUE(there.same_key(at, entry.slot_and_tag()).empty());
        }
    }
}

}  // namespace
}  // namespace sluice::table_reader_test
