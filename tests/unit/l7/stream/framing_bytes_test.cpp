#include "lib/l7/stream/framing_bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::framing_bytes_test {
namespace {

using Added = FramingBytes::Added;

constexpr HashSecret kSecret{1, 2};
constexpr std::uint32_t kFrom = 0xFFFF'FFF0;  // numbers wrap within the first bytes

class Framing : public testing::Test {
protected:
    static ByteView bytes_of(std::string_view text) { return std::as_bytes(std::span{text}); }
    // The bytes of `text` at `at`, of which those from `begin` to `end` frame.
    Added add(std::uint32_t at, std::string_view text, std::vector<PayloadRange> lines,
              std::optional<std::uint32_t> acknowledged = kFrom, ConnectionIndex of = 3) {
        return framing
            .add({of}, {.from = kFrom + at, .bytes = bytes_of(text)}, lines, acknowledged, hash)
            .what;
    }
    bool agrees(std::uint32_t at, std::string_view text, ConnectionIndex of = 3) const {
        return framing.agrees(of, {.from = kFrom + at, .bytes = bytes_of(text)}, hash);
    }

    KeyHasher hash{kSecret};
    FramingBytes framing{64};
};

TEST_F(Framing, AShortLineIsComparedInAnyCutAndTheDataBesideItIsNot) {
    EXPECT_EQ(add(10, "data\r\n1000\r\ndata", {{4, 12}}), Added::Kept);
    EXPECT_TRUE(agrees(10, "DATA\r\n1000\r\nDATA"));
    EXPECT_FALSE(agrees(10, "data\r\n0000\r\ndata"));
    EXPECT_TRUE(agrees(17, "000\r"));
    EXPECT_FALSE(agrees(17,
                        "0"
                        "00a"));
    EXPECT_FALSE(agrees(16, "0"));
    EXPECT_TRUE(agrees(0, "0123456789"));
    EXPECT_TRUE(agrees(22, "other"));
    EXPECT_TRUE(agrees(10, "data\r\n0000\r\ndata", 4)) << "another connection";
}

TEST_F(Framing, WhatLiesInTheLastBodyIsKnown) {
    EXPECT_FALSE(framing.is_in_body(3, kFrom, kFrom + 4)) << "nothing is kept";
    EXPECT_EQ(add(10, "5\r\nhello", {{0, 3}}), Added::Kept);
    EXPECT_TRUE(framing.is_in_body(3, kFrom + 10, kFrom + 900));
    EXPECT_FALSE(framing.is_in_body(3, kFrom + 9, kFrom + 12));
    framing.end_body(3, kFrom + 30);
    EXPECT_TRUE(framing.is_in_body(3, kFrom + 10, kFrom + 30));
    EXPECT_FALSE(framing.is_in_body(3, kFrom + 10, kFrom + 31));
    framing.begin_body(3, kFrom + 100);
    EXPECT_FALSE(framing.is_in_body(3, kFrom + 10, kFrom + 30));
    EXPECT_TRUE(framing.is_in_body(3, kFrom + 100, kFrom + 200));
    framing.begin_body(4, kFrom);
    EXPECT_FALSE(framing.is_in_body(4, kFrom, kFrom + 1));
}

TEST_F(Framing, ABodyThatTheReceiverHasIsNoBodyAnyMore) {
    EXPECT_EQ(add(10, "0\r\n\r\n", {{0, 5}}), Added::Kept);
    framing.end_body(3, kFrom + 15);
    EXPECT_TRUE(framing.acknowledge(3, kFrom + 14));
    EXPECT_TRUE(framing.is_in_body(3, kFrom + 10, kFrom + 15));
    EXPECT_FALSE(framing.acknowledge(3, kFrom + 15));
    EXPECT_FALSE(framing.is_in_body(3, kFrom + 10, kFrom + 15));
    EXPECT_EQ(add(10, "5\r\n", {{0, 3}}, kFrom, 4), Added::Kept);
    EXPECT_FALSE(framing.acknowledge(4, kFrom + 13));
    EXPECT_TRUE(framing.is_in_body(4, kFrom + 10, kFrom + 20)) << "it goes on";
}

TEST_F(Framing, ALongLineIsComparedWhole) {
    const std::string line = "5;name=" + std::string(100, 'x') + "\r\n";
    EXPECT_EQ(add(0, line + "hello", {{0, 109}}), Added::Kept);
    EXPECT_TRUE(agrees(0, line));
    EXPECT_TRUE(agrees(0, line + "other"));
    EXPECT_FALSE(agrees(0, line.substr(0, 50)));
    EXPECT_FALSE(agrees(1, line.substr(1)));
}

TEST_F(Framing, MoreLinesThanAreToldApartAreComparedAsOne) {
    std::string text;
    std::vector<PayloadRange> lines;
    constexpr std::size_t kApart = FramingBytes::kKept - FramingBytes::kFreeBehindSeveral;
    for (std::uint32_t i = 0; i <= kApart; ++i) {
        lines.push_back({i * 6, i * 6 + 3});
        text += "1\r\nx\r\n";
    }
    EXPECT_EQ(add(0, text, lines), Added::Kept);
    EXPECT_TRUE(agrees(0, text));
    std::string other = text;
    other[60] = '2';
    EXPECT_FALSE(agrees(0, other));
    EXPECT_FALSE(agrees(0, text.substr(0, 60)));
    lines.pop_back();
    EXPECT_EQ(add(0, text, lines, kFrom, 4), Added::Kept);
    EXPECT_TRUE(agrees(0, text.substr(0, 60), 4)) << "so many are told apart";
    EXPECT_TRUE(agrees(61, text.substr(61, 60), 4));
    EXPECT_FALSE(agrees(0, other.substr(0, 61), 4));
}

TEST_F(Framing, WhatTheReceiverHasMakesRoomAndNothingElseDoes) {
    for (std::uint32_t i = 0; i < FramingBytes::kKept; ++i) {
        ASSERT_EQ(add(i * 10, "8\r\n", {{0, 3}}), Added::Kept);
    }
    constexpr std::uint32_t kNext = 10 * FramingBytes::kKept;
    EXPECT_EQ(add(kNext, "8\r\n", {{0, 3}}), Added::Full);
    EXPECT_TRUE(agrees(kNext, "0\r\n")) << "not kept";
    EXPECT_EQ(add(kNext, "8\r\n", {{0, 3}}, kFrom + 2), Added::Full);
    EXPECT_EQ(add(kNext, "8\r\n", {{0, 3}}, kFrom + 3), Added::Kept);
    EXPECT_FALSE(agrees(kNext, "0\r\n"));
    EXPECT_FALSE(agrees(10, "0\r\n"));
}

TEST_F(Framing, WhereNobodyAcknowledgesTheOldestGoesAndNothingRepeatsIt) {
    for (std::uint32_t i = 0; i <= FramingBytes::kKept; ++i) {
        ASSERT_EQ(add(i * 10, "8\r\n", {{0, 3}}, std::nullopt), Added::Kept);
    }
    EXPECT_FALSE(agrees(0, "8\r\n"));
    EXPECT_TRUE(agrees(10, "8\r\n"));
    EXPECT_FALSE(agrees(10, "0\r\n"));
}

TEST_F(Framing, TheLongestUnusedMakesRoomAndIsNamed) {
    for (ConnectionIndex of = 0; of < 8; ++of) {
        ASSERT_EQ(add(0, "8\r\n", {{0, 3}}, kFrom, of), Added::Kept);
    }
    ASSERT_EQ(add(10, "8\r\n", {{0, 3}}, kFrom, 0), Added::Kept);
    const std::array<PayloadRange, 1> line{{{0, 3}}};
    const auto adding =
        framing.add({8}, {.from = kFrom, .bytes = bytes_of("8\r\n")}, line, kFrom, hash);
    EXPECT_EQ(adding.what, Added::Evicted);
    EXPECT_EQ(adding.evicted, 1U);
    EXPECT_FALSE(agrees(0, "0\r\n", 0));
    EXPECT_FALSE(agrees(0, "0\r\n", 8));
}

TEST_F(Framing, WhatIsLostIsLostUpToItsEndAndUntilThatIsAcknowledged) {
    for (ConnectionIndex of = 0; of < 9; ++of) {
        (void)add(10, "8\r\ndata", {{0, 3}}, kFrom, of);
    }
    EXPECT_FALSE(agrees(10, "8\r\n", 0));
    EXPECT_FALSE(agrees(0, "12345678901", 0));
    EXPECT_TRUE(agrees(13, "DATA", 0)) << "nothing that framed";
    EXPECT_EQ(add(17, "\r\n9\r\n", {{0, 5}}, kFrom + 12, 0), Added::Evicted);
    EXPECT_FALSE(agrees(10, "8\r\n", 0));
    EXPECT_TRUE(agrees(17, "\r\n9", 0)) << "that is known";
    EXPECT_FALSE(agrees(17, "\r\n8", 0));
    EXPECT_TRUE(framing.acknowledge(0, kFrom + 12));
    EXPECT_FALSE(agrees(10, "8\r\n", 0));
    EXPECT_TRUE(framing.acknowledge(0, kFrom + 14)) << "more than that";
    EXPECT_TRUE(agrees(10, "0\r\n", 0)) << "the receiver has it";
    EXPECT_FALSE(framing.acknowledge(0, kFrom + 22));
}

TEST_F(Framing, WhoseLinesAreAllAcknowledgedGoesFirstAndHasLostNothing) {
    for (ConnectionIndex of = 0; of < 8; ++of) {
        ASSERT_EQ(add(0, "8\r\n", {{0, 3}}, kFrom, of), Added::Kept);
    }
    EXPECT_FALSE(framing.acknowledge(5, kFrom + 3));
    EXPECT_EQ(add(0, "8\r\n", {{0, 3}}, kFrom, 8), Added::Kept);
    EXPECT_TRUE(agrees(0, "8\r\n", 5));
    EXPECT_FALSE(agrees(0, "0\r\n", 0)) << "the longest unused is still there";
    EXPECT_TRUE(agrees(0, "8\r\n", 0));
}

// Eight sets of eight: a source that has more than others loses its own, or finds no room.
TEST_F(Framing, ASourceWithMostMakesRoomAndTakesNobodys) {
    FramingBytes many{2048};
    const std::array<PayloadRange, 1> line{{{0, 3}}};
    const auto add_to = [&](ConnectionIndex of, SourceId source) {
        return many.add({.connection = of, .source = source},
                        {.from = kFrom, .bytes = bytes_of("8\r\n")}, line, kFrom, hash);
    };
    constexpr ConnectionIndex kSets = 8;
    for (ConnectionIndex i = 0; i < 7; ++i) {
        ASSERT_EQ(add_to(i * kSets, 100 + i).what, Added::Kept);  // set 0, one each
    }
    for (ConnectionIndex i = 0; i < 3; ++i) {
        ASSERT_EQ(add_to(i * kSets + 1, 7).what, Added::Kept);  // set 1
    }
    EXPECT_EQ(add_to(7 * kSets, 100).what, Added::Kept);
    EXPECT_EQ(add_to(8 * kSets, 7).what, Added::Full) << "three of its own elsewhere";
    const auto full = many.agrees(8 * kSets, {.from = kFrom, .bytes = bytes_of("0\r\n")}, hash);
    EXPECT_TRUE(full) << "not kept";
    const auto adding = add_to(8 * kSets, 200);
    EXPECT_EQ(adding.what, Added::Evicted);
    EXPECT_EQ(adding.evicted, 0U) << "the older of the source that has two";
    for (ConnectionIndex i = 1; i < 7; ++i) {
        EXPECT_TRUE(many.agrees(i * kSets, {.from = kFrom, .bytes = bytes_of("8\r\n")}, hash));
    }
    for (ConnectionIndex i = 0; i < 3; ++i) {
        many.forget(i * kSets + 1);
    }
    EXPECT_EQ(add_to(9 * kSets, 7).what, Added::Evicted) << "it has none any more";
}

TEST_F(Framing, ALineThatIsAnothersIsForgotten) {
    EXPECT_EQ(add(0, "8\r\n", {{0, 3}}), Added::Kept);
    framing.forget(3);
    EXPECT_TRUE(agrees(0, "0\r\n"));
    EXPECT_EQ(add(0, "8\r\n", {{0, 3}}), Added::Kept);
    EXPECT_FALSE(agrees(0, "0\r\n"));
}

TEST_F(Framing, WhatAnotherProcessLeftGoesOnWhereItCanBe) {
    const std::size_t size = FramingBytes::kept_of(64);
    std::vector<std::uint64_t> memory(size / sizeof(std::uint64_t) + 8);
    void* begin = memory.data();
    std::size_t space = memory.size() * sizeof(std::uint64_t);
    ASSERT_NE(std::align(64, size, begin, space), nullptr);
    const std::array<PayloadRange, 1> line{{{0, 3}}};
    const FramingBytes::Bytes read{.from = kFrom, .bytes = bytes_of("8\r\n")};
    const FramingBytes::Bytes behind{.from = kFrom + 3, .bytes = bytes_of("9\r\n")};
    const FramingBytes::Bytes decoy{.from = kFrom, .bytes = bytes_of("0\r\n0\r\n")};
    {
        KeptMemory kept{begin, size, 4096};
        FramingBytes first{64, kept};
        for (ConnectionIndex of = 0; of < 8; ++of) {
            (void)first.add({of, 9}, read, line, kFrom, hash);
        }
        (void)first.add({1, 9}, behind, line, kFrom, hash);
        EXPECT_EQ(first.add({8, 9}, read, line, kFrom, hash).evicted, 0U);
    }
    for (const bool has_first : {true, false}) {
        KeptMemory kept{begin, size, 4096};
        FramingBytes next{64, kept};
        next.take_over([&](ConnectionIndex of) {
            return of == 2 || (of == 0 && !has_first) ? std::nullopt : std::optional{kFrom + 3};
        });
        EXPECT_EQ(next.agrees(0, read, hash), !has_first) << "lost, or another connection's";
        EXPECT_FALSE(next.agrees(1, decoy, hash));
        const FramingBytes::Bytes other{.from = kFrom + 3, .bytes = bytes_of("7\r\n")};
        EXPECT_TRUE(next.agrees(1, other, hash)) << "what was being read is read again";
        EXPECT_TRUE(next.agrees(2, decoy, hash)) << "its connection is gone";
        EXPECT_FALSE(next.agrees(8, decoy, hash));
        EXPECT_TRUE(next.agrees(8, read, hash));
    }
    KeptMemory kept{begin, size, 4096};
    FramingBytes next{64, kept};
    next.take_over([](ConnectionIndex) { return std::optional{kFrom + 3}; });
    EXPECT_EQ(next.add({16, 7}, read, line, kFrom, hash).what, Added::Kept) << "in the free one";
    EXPECT_EQ(next.add({24, 7}, read, line, kFrom, hash).evicted, 3U) << "seven are a source's";
}

TEST_F(Framing, WithoutLinesNothingIsKept) {
    FramingBytes none{0};
    const std::array<PayloadRange, 1> line{{{0, 3}}};
    EXPECT_EQ(none.add({1}, {.from = 1, .bytes = bytes_of("8\r\n")}, line, 1, hash).what,
              Added::Kept);
    EXPECT_TRUE(none.agrees(1, {.from = 1, .bytes = bytes_of("0\r\n")}, hash));
}

}  // namespace
}  // namespace sluice::framing_bytes_test
