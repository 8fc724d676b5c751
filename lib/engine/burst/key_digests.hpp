#pragma once
#include "lib/bucket/hash/group_key.hpp"
#include "lib/packet/header_columns.hpp"
#include "lib/rules/load/key_schema.hpp"

#include <array>
#include <cstdint>

namespace sluice {

using RowDigests = std::array<std::uint64_t, kMaxBurst>;

// Rows of a burst that has been parsed.
struct KeyedRows {
    const FrameColumns& frames;
    const HeaderColumns& headers;
    RowMask rows;
};

// Hashes the key of a schema in these rows of a burst, as KeyHasher::digest() hashes its canonical
// bytes. Returned are the rows that have the key (with MissingKey::Share all of them); digests of
// rows that are not asked for stay.
[[nodiscard]] RowMask digest_keys(const KeySchema& schema, const KeyedRows& in,
                                  const KeyHasher& hasher, RowDigests& digests) noexcept;

}  // namespace sluice
