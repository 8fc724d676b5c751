#include "lib/meter/blake2b.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sluice {
namespace {

using Words = std::array<std::uint64_t, 16>;

constexpr std::array<std::uint64_t, 8> kStart{
    0x6A09'E667'F3BC'C908, 0xBB67'AE85'84CA'A73B, 0x3C6E'F372'FE94'F82B, 0xA54F'F53A'5F1D'36F1,
    0x510E'527F'ADE6'82D1, 0x9B05'688C'2B3E'6C1F, 0x1F83'D9AB'FB41'BD6B, 0x5BE0'CD19'137E'2179};

constexpr std::uint8_t kOrder[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                         {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                         {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                         {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                         {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                         {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                         {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                         {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                         {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                         {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
constexpr unsigned kRounds = 12;

// The words of one column or diagonal.
using Places = std::array<std::size_t, 4>;

void mix(Words& v, const Places& at, std::uint64_t x, std::uint64_t y) noexcept {
    auto& [a, b, c, d] = at;
    v[a] += v[b] + x;
    v[d] = std::rotr(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = std::rotr(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 63);
}

void mix_round(Words& v, const Words& m, const std::uint8_t (&order)[16]) noexcept {
    for (std::size_t i = 0; i < 4; ++i) {
        mix(v, {i, 4 + i, 8 + i, 12 + i}, m[order[2 * i]], m[order[2 * i + 1]]);
    }
    for (std::size_t i = 0; i < 4; ++i) {
        mix(v, {i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4}, m[order[8 + 2 * i]],
            m[order[9 + 2 * i]]);
    }
}

}  // namespace

// Of the block only what was filled is read.
Blake2b::Blake2b() noexcept : state_{kStart} {
    constexpr std::uint64_t kNoKeyFanOutDepth = 0x0101'0000;
    state_[0] ^= kNoKeyFanOutDepth ^ sizeof(Digest);
}

void Blake2b::add(ByteView bytes) noexcept {
    while (!bytes.empty()) {
        if (filled_ == kBlock) {
            count_ += kBlock;
            compress(false);
            filled_ = 0;
        }
        const std::size_t now = std::min(kBlock - filled_, bytes.size());
        std::memcpy(block_.data() + filled_, bytes.data(), now);
        filled_ += now;
        bytes = bytes.subspan(now);
    }
}

Blake2b::Digest Blake2b::digest() noexcept {
    count_ += filled_;
    std::memset(block_.data() + filled_, 0, kBlock - filled_);
    compress(true);
    Digest digest;
    std::memcpy(digest.data(), state_.data(), digest.size());
    return digest;
}

void Blake2b::compress(bool last) noexcept {
    Words m;
    std::memcpy(m.data(), block_.data(), kBlock);
    Words v;
    std::copy(state_.begin(), state_.end(), v.begin());
    std::copy(kStart.begin(), kStart.end(), v.begin() + 8);
    v[12] ^= count_;
    v[14] = last ? ~v[14] : v[14];
    for (unsigned round = 0; round < kRounds; ++round) {
        mix_round(v, m, kOrder[round % 10]);
    }
    for (std::size_t i = 0; i < state_.size(); ++i) {
        state_[i] ^= v[i] ^ v[8 + i];
    }
}

}  // namespace sluice
