#include "lib/bucket/hash/aes_hash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <vector>

namespace sluice::aes_hash_test {
namespace {

using Block = std::array<std::uint8_t, 16>;

// FIPS 197, spelled out byte by byte: the oracle.
std::uint8_t times(std::uint8_t a, std::uint8_t b) {
    std::uint8_t product = 0;
    for (int i = 0; i < 8; ++i) {
        product ^= (b >> i & 1) != 0 ? a : 0;
        a = static_cast<std::uint8_t>(a << 1 ^ ((a & 0x80) != 0 ? 0x1B : 0));
    }
    return product;
}

std::uint8_t sub_byte(std::uint8_t x) {
    std::uint8_t inverse = 0;
    for (int y = 1; y < 256 && x != 0; ++y) {
        if (times(x, static_cast<std::uint8_t>(y)) == 1) {
            inverse = static_cast<std::uint8_t>(y);
        }
    }
    std::uint8_t out = 0x63;
    for (int i = 0; i < 5; ++i) {
        out ^= std::rotl(inverse, i);
    }
    return out;
}

const std::array<std::uint8_t, 256>& sbox() {
    static const auto table = [] {
        std::array<std::uint8_t, 256> made{};
        for (int i = 0; i < 256; ++i) {
            made[static_cast<std::size_t>(i)] = sub_byte(static_cast<std::uint8_t>(i));
        }
        return made;
    }();
    return table;
}

Block round_of(const Block& state, const Block& key) {
    Block out{};
    for (std::size_t column = 0; column < 4; ++column) {
        std::array<std::uint8_t, 4> in{};
        for (std::size_t row = 0; row < 4; ++row) {
            in[row] = sbox()[state[(column + row) % 4 * 4 + row]];
        }
        for (std::size_t row = 0; row < 4; ++row) {
            out[column * 4 + row] = static_cast<std::uint8_t>(
                times(in[row], 2) ^ times(in[(row + 1) % 4], 3) ^ in[(row + 2) % 4] ^
                in[(row + 3) % 4] ^ key[column * 4 + row]);
        }
    }
    return out;
}

Block block_of(std::uint64_t low, std::uint64_t high) {
    Block block;
    std::memcpy(block.data(), &low, 8);
    std::memcpy(block.data() + 8, &high, 8);
    return block;
}

Block sum(const Block& a, const Block& b) {
    Block out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = a[i] ^ b[i];
    }
    return out;
}

std::uint64_t slow_hash(const HashSecret& secret, const std::vector<std::uint8_t>& bytes) {
    const Block root = block_of(secret[0], secret[1]);
    std::array<Block, 5> keys{};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        keys[i] = sum(root, block_of(i + 1, 0));
        for (int round = 0; round < 8; ++round) {
            keys[i] = round_of(keys[i], root);
        }
    }
    Block state = sum(keys[0], block_of(bytes.size(), 0));
    std::size_t at = 0;
    do {
        Block block{};
        for (std::size_t i = 0; i < 16 && at + i < bytes.size(); ++i) {
            block[i] = bytes[at + i];
        }
        state = sum(state, block);
        for (std::size_t round = 1; round <= 4; ++round) {
            state = round_of(state, keys[round]);
        }
        at += 16;
    } while (at < bytes.size());
    std::uint64_t low = 0;
    std::memcpy(&low, state.data(), 8);
    return low;
}

class AesHashTest : public testing::Test {
protected:
    void SetUp() override {
        if (!AesHash::works_here()) {
            GTEST_SKIP() << "this CPU has no AES instructions";
        }
    }
};

TEST_F(AesHashTest, IsWhatTheRoundsOfTheStandardSay) {
    std::mt19937_64 random{5};
    for (std::size_t size = 0; size < 70; ++size) {
        const HashSecret secret{random(), random()};
        std::vector<std::uint8_t> bytes(size);
        for (std::uint8_t& byte : bytes) {
            byte = static_cast<std::uint8_t>(random());
        }
        EXPECT_EQ(AesHash{secret}(std::as_bytes(std::span{bytes})), slow_hash(secret, bytes))
            << size;
    }
}

// Every bit of key and secret turns each bit of the hash over about half of the time.
TEST_F(AesHashTest, EveryBitCounts) {
    std::mt19937_64 random{6};
    constexpr int kTries = 400;
    for (std::size_t bit = 0; bit < 20 * 8; ++bit) {
        int turned = 0;
        for (int i = 0; i < kTries; ++i) {
            const AesHash hash{{random(), random()}};
            std::array<std::uint8_t, 20> bytes{};
            for (std::uint8_t& byte : bytes) {
                byte = static_cast<std::uint8_t>(random());
            }
            const std::uint64_t before = hash(std::as_bytes(std::span{bytes}));
            bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
            turned += std::popcount(before ^ hash(std::as_bytes(std::span{bytes})));
        }
        EXPECT_NEAR(turned, kTries * 32, kTries * 2) << bit;
    }
}

// What is asked of words is what is asked of their bytes.
SLUICE_AES void expect_words_are_bytes(std::mt19937_64& random) {
    const AesHash hash{{random(), random()}};
    for (int i = 0; i < 1000; ++i) {
        const std::array<std::uint64_t, 2> words{random(), random()};
        const std::span<const std::byte> bytes = std::as_bytes(std::span{words});
        ASSERT_EQ(hash.of_word(words[0]), hash(bytes.first(8)));
        ASSERT_EQ(hash.of_words(words[0], words[1]), hash(bytes));
        std::array<std::byte, 20> headed;
        const std::uint32_t head = static_cast<std::uint32_t>(words[0] >> 7) * 3;
        std::memcpy(headed.data(), &head, sizeof(head));
        std::memcpy(headed.data() + sizeof(head), words.data(), sizeof(words));
        ASSERT_EQ(hash.of_headed_words(head, words[0], words[1]), hash(headed));
    }
}

TEST(AesHash, AWordIsItsBytes) {
    if (!AesHash::works_here()) {
        GTEST_SKIP() << "no AES instructions here";
    }
    std::mt19937_64 random{3};
    expect_words_are_bytes(random);
}

}  // namespace
}  // namespace sluice::aes_hash_test
