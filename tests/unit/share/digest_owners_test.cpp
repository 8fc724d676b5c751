#include "lib/share/digest_owners.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace sluice {
namespace {

std::set<std::size_t> owners_of(const DigestOwners& owners, std::uint64_t digest) {
    std::set<std::size_t> found;
    owners.for_each(digest, [&](std::size_t core) { found.insert(core); });
    return found;
}

TEST(DigestOwners, NamesNobodyAtFirst) {
    const DigestOwners owners{100, 1000};
    for (std::uint64_t digest = 0; digest < 2000; ++digest) {
        EXPECT_TRUE(owners_of(owners, digest).empty());
    }
}

TEST(DigestOwners, NamesEachCoreThatHasSomethingOfMoreThanAWordHolds) {
    DigestOwners owners{130, 1000};
    for (const std::size_t core : {0U, 63U, 64U, 129U}) {
        owners.add(77, core);
        owners.add(77, core);
    }
    EXPECT_EQ(owners_of(owners, 77), (std::set<std::size_t>{0, 63, 64, 129}));
    EXPECT_TRUE(owners_of(owners, 78).empty());
    owners.remove(77, 64);
    EXPECT_EQ(owners_of(owners, 77), (std::set<std::size_t>{0, 63, 129}));
}

TEST(DigestOwners, DigestsOfOnePlaceAreNamedTogether) {
    DigestOwners owners{2, 1024};
    owners.add(5, 1);
    EXPECT_TRUE(owners.are_together(5, 5 + 1024));
    EXPECT_FALSE(owners.are_together(5, 6));
    EXPECT_EQ(owners_of(owners, 5 + 1024), (std::set<std::size_t>{1}));
}

}  // namespace
}  // namespace sluice
