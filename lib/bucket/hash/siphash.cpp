#include "lib/bucket/hash/siphash.hpp"

#include <bit>
#include <cstddef>
#include <cstring>

namespace sluice {
namespace {

struct SipState {
    std::uint64_t v0, v1, v2, v3;

    explicit SipState(const HashSecret& secret) noexcept
        : v0{secret[0] ^ 0x736F'6D65'7073'6575},
          v1{secret[1] ^ 0x646F'7261'6E64'6F6D},
          v2{secret[0] ^ 0x6C79'6765'6E65'7261},
          v3{secret[1] ^ 0x7465'6462'7974'6573} {}

    void round() noexcept {
        v0 += v1;
        v2 += v3;
        v1 = std::rotl(v1, 13) ^ v0;
        v3 = std::rotl(v3, 16) ^ v2;
        v0 = std::rotl(v0, 32);
        v2 += v1;
        v0 += v3;
        v1 = std::rotl(v1, 17) ^ v2;
        v3 = std::rotl(v3, 21) ^ v0;
        v2 = std::rotl(v2, 32);
    }

    void absorb(std::uint64_t word) noexcept {
        v3 ^= word;
        round();
        v0 ^= word;
    }

    [[nodiscard]] std::uint64_t finish() noexcept {
        v2 ^= 0xFF;
        round();
        round();
        round();
        return v0 ^ v1 ^ v2 ^ v3;
    }
};

// Little-endian, as the machines this runs on are; missing bytes are zero.
std::uint64_t load_word(const std::byte* from, std::size_t size) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, from, size);
    return word;
}

}  // namespace

std::uint64_t siphash_1_3(const HashSecret& secret, ByteView bytes) noexcept {
    SipState state{secret};
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        state.absorb(load_word(bytes.data() + at, 8));
    }
    // The length in the top byte tells a short last word from one that ends in zeroes.
    const std::uint64_t length = bytes.size() << 56;
    const std::size_t rest = bytes.size() - at;
    state.absorb(length | (rest == 0 ? 0 : load_word(bytes.data() + at, rest)));
    return state.finish();
}

}  // namespace sluice
