#include "lib/packet/internet_checksum.hpp"

#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::internet_checksum_test {
namespace {

using test::checksum_of;
using test::Octets;
using test::put16;
using test::put8;

std::uint16_t sum_of(const Octets& bytes) {
    InternetChecksum checksum;
    checksum.add(bytes);
    return checksum.value();
}

// RFC 1071, 3: the words 0001 f203 f4f5 f6f7 sum up to ddf2.
TEST(InternetChecksum, IsTheOneOfTheStandard) {
    Octets bytes;
    for (const unsigned word : {0x0001U, 0xF203U, 0xF4F5U, 0xF6F7U}) {
        put16(bytes, word);
    }
    EXPECT_EQ(sum_of(bytes), 0xFFFF - 0xDDF2);
}

TEST(InternetChecksum, IsTheSlowOneForEverySizeAndInParts) {
    std::mt19937_64 random{7};
    for (std::size_t size = 0; size < 400; ++size) {
        Octets bytes;
        while (bytes.size() < size) {
            put8(bytes, size % 3 == 0 ? 0xFF : static_cast<unsigned>(random() & 0xFF));
        }
        ASSERT_EQ(sum_of(bytes), checksum_of(bytes, 0, size)) << size;
        InternetChecksum in_parts;
        const std::size_t cut = size / 2 & ~std::size_t{1};
        in_parts.add(ByteView{bytes}.first(cut));
        in_parts.add(ByteView{bytes}.subspan(cut));
        ASSERT_EQ(in_parts.value(), sum_of(bytes)) << size;
    }
}

TEST(InternetChecksum, BytesThatHoldTheirOwnAreRight) {
    std::mt19937_64 random{8};
    const auto is_right = [](const Octets& bytes) {
        InternetChecksum checksum;
        checksum.add(bytes);
        EXPECT_EQ(checksum.is_right(), checksum.value() == 0);
        return checksum.is_right();
    };
    for (std::size_t size = 2; size < 1600; size += 2) {
        Octets bytes(2);
        while (bytes.size() < size) {
            put8(bytes, size % 3 == 0 ? 0xFF : static_cast<unsigned>(random() & 0xFF));
        }
        EXPECT_FALSE(is_right(Octets(size))) << "nothing but zeros";
        store_be16(bytes, 0, sum_of(bytes));
        EXPECT_TRUE(is_right(bytes)) << size;
        bytes[random() % size] ^= std::byte{16};
        EXPECT_FALSE(is_right(bytes)) << size;
    }
}

TEST(InternetChecksum, CarriesOfManyBytesAreAllAdded) {
    const Octets bytes(65'534, std::byte{0xFF});
    EXPECT_EQ(sum_of(bytes), checksum_of(bytes, 0, bytes.size()));
}

}  // namespace
}  // namespace sluice::internet_checksum_test
