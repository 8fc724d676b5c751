#include "lib/meter/blake2b.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::blake2b_test {
namespace {

std::string hex(const Blake2b::Digest& digest) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : digest) {
        text += {kHex[std::to_integer<unsigned>(byte) >> 4],
                 kHex[std::to_integer<unsigned>(byte) & 15]};
    }
    return text;
}

// 0, 1, ... 250, 0, 1, ...
std::vector<std::byte> counted(std::size_t size) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < size; ++i) {
        bytes.push_back(static_cast<std::byte>(i % 251));
    }
    return bytes;
}

std::string digest_of(ByteView bytes, std::size_t piece) {
    Blake2b hash;
    for (; bytes.size() > piece; bytes = bytes.subspan(piece)) {
        hash.add(bytes.first(piece));
    }
    hash.add(bytes);
    return hex(hash.digest());
}

// As Python's hashlib.blake2b(..., digest_size=16) has them.
TEST(Blake2b, IsThatOfRfc7693InAnyPieces) {
    const struct {
        std::size_t size;
        std::string_view digest;
    } rows[] = {
        {0, "cae66941d9efbd404e4d88758ea67670"},   {3, "a75c0b0d97360c1ba783496eb6a0395a"},
        {128, "a74787004ef589e31149183900d0294a"}, {129, "aaf1b0371f6d4ee49ee4fb5ddd9c49ef"},
        {300, "a021a719dabbbce707bec49e7a6c9865"},
    };
    for (const auto& row : rows) {
        const std::vector<std::byte> bytes = counted(row.size);
        for (const std::size_t piece : {1, 7, 127, 128, 129, 1000}) {
            EXPECT_EQ(digest_of(bytes, piece), row.digest) << row.size << " in " << piece;
        }
    }
    EXPECT_EQ(digest_of(bytes_of("abc"), 3), "cf4ab791c62b8d2b2109c90275287816");
}

}  // namespace
}  // namespace sluice::blake2b_test
