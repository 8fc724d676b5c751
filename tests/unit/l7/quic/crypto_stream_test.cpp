#include "lib/l7/quic/crypto_stream.hpp"

#include "tests/unit/l7/hello_maker.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>

namespace sluice::crypto_stream_test {
namespace {

using test::Octets;
using test::octets_of;

struct Stream {
    explicit Stream(std::size_t size) : room(size), stream{room} {}
    CryptoAdd add(std::uint64_t offset, std::string_view text) {
        return stream.add(offset, octets_of(text));
    }
    std::string text() const {
        const ByteView bytes = stream.contiguous();
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    Octets room;
    CryptoStream stream;
};

TEST(CryptoStream, PiecesComeInAnyOrder) {
    Stream one{100};
    EXPECT_TRUE(one.stream.empty());
    EXPECT_EQ(one.add(6, "world"), CryptoAdd::Good);
    EXPECT_EQ(one.text(), "");
    EXPECT_FALSE(one.stream.empty());
    EXPECT_EQ(one.add(0, "hel"), CryptoAdd::Good);
    EXPECT_EQ(one.text(), "hel");
    EXPECT_EQ(one.add(3, "lo "), CryptoAdd::Good);
    EXPECT_EQ(one.text(), "hello world");
    one.stream.clear();
    EXPECT_EQ(one.text(), "");
}

TEST(CryptoStream, WhatCameFirstStaysAndADifferenceIsTold) {
    Stream one{100};
    EXPECT_EQ(one.add(2, "cd"), CryptoAdd::Good);
    EXPECT_EQ(one.add(6, "gh"), CryptoAdd::Good);
    EXPECT_EQ(one.add(0, "abCdefghij"), CryptoAdd::Differs);
    EXPECT_EQ(one.add(0, "abcdefgHij"), CryptoAdd::Differs);
    EXPECT_EQ(one.text(), "");
    EXPECT_EQ(one.add(0, "abcdefghij"), CryptoAdd::Good);
    EXPECT_EQ(one.text(), "abcdefghij");
    EXPECT_EQ(one.add(3, "defghijk"), CryptoAdd::Good);
    EXPECT_EQ(one.add(9, "Jkl"), CryptoAdd::Differs);
    EXPECT_EQ(one.text(), "abcdefghijk");
}

TEST(CryptoStream, TheRoomIsTheBound) {
    Stream one{4};
    EXPECT_EQ(one.add(2, "cdef"), CryptoAdd::BeyondRoom);
    EXPECT_EQ(one.add(4, "e"), CryptoAdd::BeyondRoom);
    EXPECT_EQ(one.add(4, ""), CryptoAdd::Good);
    EXPECT_EQ(one.add(~std::uint64_t{0} >> 2, "e"), CryptoAdd::BeyondRoom);
    EXPECT_EQ(one.add(~std::uint64_t{0}, "e"), CryptoAdd::BeyondRoom);
    EXPECT_EQ(one.add(0, "ab"), CryptoAdd::Good);
    EXPECT_EQ(one.text(), "abcd");
    Stream none{0};
    EXPECT_EQ(none.add(0, "a"), CryptoAdd::BeyondRoom);
    Stream large{70'000};
    EXPECT_EQ(large.stream.room(), CryptoStream::kMaxRoom);
    EXPECT_EQ(large.add(65'533, "abc"), CryptoAdd::BeyondRoom);
}

TEST(CryptoStream, SoManyPiecesAndNoMore) {
    Stream one{100};
    for (std::size_t i = 0; i < CryptoStream::kMaxPieces; ++i) {
        ASSERT_EQ(one.add(2 * i + 1, "x"), CryptoAdd::Good);
    }
    EXPECT_EQ(one.add(90, "y"), CryptoAdd::TooManyPieces);
    EXPECT_EQ(one.add(0, "a"), CryptoAdd::Good);  // touches one
    EXPECT_EQ(one.text(), "ax");
    EXPECT_EQ(one.add(2, "b"), CryptoAdd::Good);
    EXPECT_EQ(one.add(90, "y"), CryptoAdd::Good);
    EXPECT_EQ(one.add(4, "z"), CryptoAdd::Good);
    EXPECT_EQ(one.text().size(), 6U);
    EXPECT_EQ(one.text().substr(0, 6), "axbxzx");
}

// Against a byte that is there or not for each place.
TEST(CryptoStream, IsWhatASlowOneIs) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random{seed};
    for (int round = 0; round < 2'000; ++round) {
        Stream one{64};
        std::vector<std::optional<std::byte>> slow(64);
        for (unsigned step = 0; step < 40; ++step) {
            const std::size_t offset = random() % 70;
            const Octets bytes(random() % 12, static_cast<std::byte>(step / 20));
            const CryptoAdd added = one.stream.add(offset, bytes);
            bool differs = false;
            for (std::size_t i = 0; i < bytes.size() && offset + i < slow.size(); ++i) {
                differs = differs || (slow[offset + i] && *slow[offset + i] != bytes[i]);
            }
            ASSERT_EQ(added == CryptoAdd::Differs, differs);
            for (std::size_t i = 0; i < bytes.size() && offset + i < slow.size(); ++i) {
                if (!slow[offset + i] && added != CryptoAdd::TooManyPieces && !differs) {
                    slow[offset + i] = bytes[i];
                }
            }
            std::size_t there = 0;
            for (; there < slow.size() && slow[there]; ++there) {
                ASSERT_EQ(one.room[there], *slow[there]);
            }
            ASSERT_EQ(one.stream.contiguous().size(), there);
        }
    }
}

}  // namespace
}  // namespace sluice::crypto_stream_test
