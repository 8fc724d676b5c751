#include "lib/l7/stream/framing_bytes.hpp"
#include "tests/guarded_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

// Lines of chunks in memory that outlives the process, killed before each store.
namespace sluice::framing_kept_test {
namespace {

using test::GuardedMemory;

constexpr std::uint32_t kIsn = 0xFFFF'FFF0;

// More connections than there are blocks, killed before each store: whoever had a line has it, or
// knows that it is lost.
TEST(ConnectionKept, AKillInTheMiddleOfAnEvictionLosesItsLineForGood) {
    constexpr ConnectionIndex kBlocks = 8;
    constexpr HashSecret kSecret{1, 2};
    const KeyHasher hash{kSecret};
    const std::size_t bytes = FramingBytes::kept_of(64);
    GuardedMemory memory{bytes};
    GuardedMemory other{bytes};
    const auto read = [](const char* text) {
        return FramingBytes::Bytes{.from = kIsn, .bytes = bytes_of(std::string_view{text})};
    };
    KeptMemory kept{memory.base(), bytes, 4096};
    FramingBytes framing{64, kept};
    const std::array<PayloadRange, 1> line{{{0, 3}}};
    for (ConnectionIndex of = 0; of < kBlocks; ++of) {
        (void)framing.add({of, of}, read("8\r\n"), line, kIsn, hash);
    }
    std::size_t instants = 0;
    const auto killed = [&] {
        other.copy_from(memory);
        KeptMemory left{other.base(), bytes, 4096};
        FramingBytes next{64, left};
        next.take_over([](ConnectionIndex) { return std::optional{kIsn + 3}; });
        ++instants;
        for (ConnectionIndex of = 0; of < kBlocks; ++of) {
            EXPECT_FALSE(next.agrees(of, read("0\r\n"), hash)) << of;
            EXPECT_TRUE(of == 0 || next.agrees(of, read("8\r\n"), hash)) << of;
        }
    };
    memory.run_guarded([&] { (void)framing.add({20, 20}, read("8\r\n"), line, kIsn, hash); },
                       killed);
    killed();
    EXPECT_GT(instants, 5U);
}

// A kill leaves the body of before, the new one, or none.
TEST(ConnectionKept, AKillWhileABodyBeginsLeavesNothingBetweenTheBodiesInOne) {
    constexpr HashSecret kSecret{1, 2};
    const KeyHasher hash{kSecret};
    const std::size_t bytes = FramingBytes::kept_of(64);
    GuardedMemory memory{bytes};
    GuardedMemory other{bytes};
    KeptMemory kept{memory.base(), bytes, 4096};
    FramingBytes framing{64, kept};
    const std::array<PayloadRange, 1> line{{{0, 3}}};
    (void)framing.add({0, 0}, {.from = kIsn, .bytes = bytes_of(std::string_view{"8\r\n"})}, line,
                      kIsn, hash);
    framing.end_body(0, kIsn + 20);
    std::size_t instants = 0;
    const auto killed = [&] {
        other.copy_from(memory);
        KeptMemory left{other.base(), bytes, 4096};
        FramingBytes next{64, left};
        next.take_over([](ConnectionIndex) { return std::optional{kIsn + 50}; });
        EXPECT_FALSE(next.is_in_body(0, kIsn + 25, kIsn + 30)) << instants;
        EXPECT_FALSE(next.is_in_body(0, kIsn + 25, kIsn + 45)) << instants;
        ++instants;
    };
    memory.run_guarded([&] { framing.begin_body(0, kIsn + 40); }, killed);
    killed();
    EXPECT_EQ(instants, 3U);
    EXPECT_TRUE(framing.is_in_body(0, kIsn + 40, kIsn + 45));
}

// A connection that is being forgotten is there again behind a kill, with all that it had lost,
// whatever of a newcomer in its line was written before.
TEST(ConnectionKept, AKillWhileAConnectionIsForgottenLeavesWhatItHadLost) {
    constexpr HashSecret kSecret{1, 2};
    const KeyHasher hash{kSecret};
    const std::size_t bytes = FramingBytes::kept_of(64);
    GuardedMemory memory{bytes};
    GuardedMemory other{bytes};
    const auto read = [](std::uint32_t at, const char* text) {
        return FramingBytes::Bytes{.from = kIsn + at, .bytes = bytes_of(std::string_view{text})};
    };
    const std::array<PayloadRange, 1> line{{{0, 3}}};
    for (const bool has_more : {false, true}) {
        KeptMemory kept{memory.base(), bytes, 4096};
        FramingBytes framing{64, kept};
        for (ConnectionIndex of = 0; of < 9; ++of) {
            (void)framing.add({of, of}, read(0, "8\r\n"), line, kIsn, hash);
        }
        if (has_more) {
            (void)framing.add({0, 0}, read(3, "9\r\n"), line, kIsn, hash);
        }
        const auto killed = [&] {
            other.copy_from(memory);
            KeptMemory left{other.base(), bytes, 4096};
            FramingBytes next{64, left};
            next.take_back(0, kIsn + 6);
            next.take_over([](ConnectionIndex) { return std::optional{kIsn + 6}; });
            EXPECT_FALSE(next.agrees(0, read(0, "0\r\n"), hash)) << has_more;
        };
        const auto begin_anew = [&] {
            framing.forget(0);
            framing.begin(0);
        };
        memory.run_guarded(begin_anew, killed);
        killed();
        EXPECT_TRUE(framing.agrees(0, read(0, "0\r\n"), hash)) << "another connection";
    }
}

// The line that was being written leaves nothing behind: its place is free, also as the last one.
TEST(ConnectionKept, AKillInTheMiddleOfALineLeavesNoneOfIt) {
    constexpr HashSecret kSecret{1, 2};
    const KeyHasher hash{kSecret};
    const std::size_t bytes = FramingBytes::kept_of(64);
    const std::array<PayloadRange, 1> line{{{0, 3}}};
    for (const std::size_t before : {std::size_t{1}, FramingBytes::kKept - 1}) {
        GuardedMemory memory{bytes};
        GuardedMemory other{bytes};
        KeptMemory kept{memory.base(), bytes, 4096};
        FramingBytes framing{64, kept};
        const auto read = [](std::size_t at, std::string_view text) {
            return FramingBytes::Bytes{.from = kIsn + 3 * static_cast<std::uint32_t>(at),
                                       .bytes = bytes_of(text)};
        };
        for (std::size_t at = 0; at < before; ++at) {
            (void)framing.add({0, 0}, read(at, "8\r\n"), line, kIsn, hash);
        }
        const std::uint32_t next_byte = read(before, "").from;
        const auto killed = [&] {
            other.copy_from(memory);
            KeptMemory left{other.base(), bytes, 4096};
            FramingBytes next{64, left};
            next.take_over([&](ConnectionIndex) { return std::optional{next_byte}; });
            EXPECT_EQ(next.add({0, 0}, read(before, "7\r\n"), line, kIsn, hash).what,
                      FramingBytes::Added::Kept);
            EXPECT_TRUE(next.agrees(0, read(before, "7\r\n"), hash)) << before;
            EXPECT_FALSE(next.agrees(0, read(before, "9\r\n"), hash)) << before;
        };
        memory.run_guarded(
            [&] { (void)framing.add({0, 0}, read(before, "9\r\n"), line, kIsn, hash); }, killed);
        killed();
    }
}

}  // namespace
}  // namespace sluice::framing_kept_test
