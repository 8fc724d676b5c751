#include "lib/l7/quic/quic_given_up_hellos.hpp"

#include "lib/l7/stream/tick.hpp"

#include <numeric>
#include <span>

namespace sluice {
namespace {

// In the words of lib/l7/stream.
constexpr StreamPhase kGivenUpParts = StreamPhase::Forgotten;
constexpr unsigned kPartsExpiredAtOnce = 2;

// A digest of pieces goes on with one more.
std::uint64_t digest_with_piece(std::uint64_t digest, ByteView piece,
                                const KeyHasher& hash) noexcept {
    const std::uint64_t both[] = {digest, hash.digest(piece)};
    return hash.digest(std::as_bytes(std::span{both}));
}

}  // namespace

QuicGivenUpHellos::QuicGivenUpHellos(std::size_t hellos, Nanoseconds lasts)
    : most_{hellos},
      lasts_{ticks_of(lasts) + 1},
      lines_{hellos},
      members_(lines_.capacity()),
      shares_{hellos, hellos, members_},
      kept_(hellos + 1),
      free_(hellos) {
    std::iota(free_.rbegin(), free_.rend(), 1U);
}

std::uint64_t QuicGivenUpHellos::memory_of(std::size_t hellos) noexcept {
    return ConnectionLines::memory_of(hellos) +
           ConnectionLines::lines_for(hellos) * sizeof(SourceMember) +
           SourceShares::memory_of(hellos, hellos) +
           (hellos + 1) * (sizeof(Kept) + sizeof(std::uint32_t));
}

std::optional<std::uint64_t> QuicGivenUpHellos::keep(const Parts& parts, const KeyHasher& hash,
                                                     std::uint32_t ticks) noexcept {
    if (has(parts.id)) {
        return parts.id;
    }
    std::optional<std::uint64_t> lost;
    if (lines_.size() >= most_) {
        const ConnectionIndex oldest = shares_.oldest_of_most();
        lost = kept_[lines_[oldest].held].id;
        remove(oldest);
    }
    const ConnectionIndex index = lines_.add(parts.id);
    if (index == kNoConnection) {
        return parts.id;
    }
    Kept& kept = kept_[free_.back()];
    kept.id = parts.id;
    kept.digest = 0;
    kept.count = 0;
    (void)parts.stream.all_pieces([&](std::size_t offset, ByteView bytes) {
        kept.pieces[kept.count++] = {.begin = static_cast<std::uint16_t>(offset),
                                     .end = static_cast<std::uint16_t>(offset + bytes.size())};
        kept.digest = digest_with_piece(kept.digest, bytes, hash);
        return true;
    });
    lines_[index].phase = kGivenUpParts;
    lines_[index].held = free_.back();
    lines_[index].touched = ticks;
    free_.pop_back();
    members_[index].id = parts.source;
    shares_.add(index);
    ages_.push_newest(lines_, index);
    return lost;
}

bool QuicGivenUpHellos::agrees(std::uint64_t id, ByteView bytes,
                               const KeyHasher& hash) const noexcept {
    const ConnectionIndex line = lines_.find(id);
    if (line == kNoConnection) {
        return true;
    }
    const Kept& kept = kept_[lines_[line].held];
    std::uint64_t digest = 0;
    for (const Piece& piece : std::span{kept.pieces}.first(kept.count)) {
        if (piece.end > bytes.size()) {
            return false;
        }
        digest = digest_with_piece(
            digest, bytes.subspan(piece.begin, std::size_t{piece.end} - piece.begin), hash);
    }
    return digest == kept.digest;
}

void QuicGivenUpHellos::expire(std::uint32_t ticks) noexcept {
    for (unsigned i = 0; i < kPartsExpiredAtOnce; ++i) {
        const ConnectionIndex oldest = ages_.oldest();
        if (oldest == kNoConnection || ticks - lines_[oldest].touched <= lasts_) {
            return;
        }
        remove(oldest);
    }
}

void QuicGivenUpHellos::remove(ConnectionIndex line) noexcept {
    shares_.remove(line);
    ages_.remove(lines_, line);
    free_.push_back(lines_[line].held);
    lines_.remove(line);
}

}  // namespace sluice
