#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/units.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/l7/quic/crypto_stream.hpp"
#include "lib/l7/stream/age_list.hpp"
#include "lib/l7/stream/connection_lines.hpp"
#include "lib/l7/stream/source_shares.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

// Half hellos of services that were given up after parts of them had passed. Their server may still
// have these parts, and takes the rest alone of whatever comes later: so a hello under their id
// must have the same bytes in these places. A digest of the bytes is kept, and where they lay.
//
// One worker's. Ids are keyed digests. All memory is taken at the start. Where it is full the
// source with most loses its oldest, so that no source takes the place of others.
class QuicGivenUpHellos {
public:
    // Each stands for `lasts`. Aborts if there is no memory.
    QuicGivenUpHellos(std::size_t hellos, Nanoseconds lasts);
    [[nodiscard]] static std::uint64_t memory_of(std::size_t hellos) noexcept;

    struct Parts {
        std::uint64_t id = 0;
        SourceId source = 0;
        const CryptoStream& stream;
    };
    // The id of which not all parts are known now; nullopt: there is none. It is the own one where
    // other parts are kept of it.
    [[nodiscard]] std::optional<std::uint64_t> keep(const Parts& parts, const KeyHasher& hash,
                                                    std::uint32_t ticks) noexcept;
    [[nodiscard]] bool has(std::uint64_t id) const noexcept {
        return lines_.find(id) != kNoConnection;
    }
    // `bytes` from the beginning have what passed under this id. True also where nothing is kept.
    [[nodiscard]] bool agrees(std::uint64_t id, ByteView bytes,
                              const KeyHasher& hash) const noexcept;
    // Forgets what is older than `lasts`, a few.
    void expire(std::uint32_t ticks) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }

private:
    struct Piece {
        std::uint16_t begin;
        std::uint16_t end;
    };
    struct Kept {
        std::uint64_t id = 0;
        std::uint64_t digest = 0;
        std::uint32_t count = 0;
        std::array<Piece, CryptoStream::kMaxPieces> pieces;  // the first `count` are set
    };
    void remove(ConnectionIndex line) noexcept;

    std::size_t most_;
    std::uint32_t lasts_;    // in ticks
    ConnectionLines lines_;  // `held` is a number in kept_
    std::vector<SourceMember> members_;
    SourceShares shares_;
    AgeList ages_;
    std::vector<Kept> kept_;  // the first is nobody's
    std::vector<std::uint32_t> free_;
};

}  // namespace sluice
