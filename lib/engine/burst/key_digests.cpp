#include "lib/engine/burst/key_digests.hpp"

#include "lib/engine/burst/key_columns.hpp"
#include "lib/rules/group.hpp"

#include <bit>
#include <cstring>

namespace sluice {
namespace {

using Kind = KeySchemaPart::Kind;

std::array<std::uint64_t, 2> masked_words(const KeySchemaPart& part,
                                          const IpAddress& address) noexcept {
    const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(address.bytes);
    return {words[0] & part.mask_v6[0], words[1] & part.mask_v6[1]};
}

const HeaderColumns::Column<std::uint32_t>& v4_column(const KeySchemaPart& part,
                                                      const HeaderColumns& headers) noexcept {
    return part.kind == Kind::Source ? headers.src : headers.dst;
}
const HeaderColumns::Column<IpAddress>& v6_column(const KeySchemaPart& part,
                                                  const HeaderColumns& headers) noexcept {
    return part.kind == Kind::Source ? headers.src6 : headers.dst6;
}

// Keys of any kind, one by one. Rows that have the key.
RowMask digest_by_bytes(const KeySchema& schema, const KeyedRows& in, const KeyHasher& hasher,
                        RowDigests& digests) noexcept {
    RowMask present = 0;
    for_each_row(in.rows, [&](std::size_t row) {
        KeyBytes key;
        const KeyOutcome outcome = key_of(*schema.parts, schema.missing, in.headers.headers(row),
                                          in.frames.frame(row).bytes, key);
        if (outcome != KeyOutcome::Missing) {
            digests[row] = hasher.digest(key.view());
            present |= row_bit(row);
        }
    });
    return present;
}

SLUICE_AES void digest_v4_address(const KeySchemaPart& part, const KeyedRows& in,
                                  const AesHash& hash, RowDigests& digests) noexcept {
    const auto& column = v4_column(part, in.headers);
    const std::uint64_t header = part.header_v4;
    const std::uint32_t mask = part.mask_v4;
    if (in.rows == ~RowMask{0}) {
        for (std::size_t row = 0; row < kMaxBurst; ++row) {
            digests[row] = hash.of_word(header | std::uint64_t{column[row] & mask} << 32);
        }
        return;
    }
    for (RowMask left = in.rows; left != 0; left &= left - 1) {
        const auto row = static_cast<std::size_t>(std::countr_zero(left));
        digests[row] = hash.of_word(header | std::uint64_t{column[row] & mask} << 32);
    }
}

SLUICE_AES void digest_v6_address(const KeySchemaPart& part, const KeyedRows& in,
                                  const AesHash& hash, RowDigests& digests) noexcept {
    const auto& column = v6_column(part, in.headers);
    for (RowMask left = in.rows; left != 0; left &= left - 1) {
        const auto row = static_cast<std::size_t>(std::countr_zero(left));
        const auto words = masked_words(part, column[row]);
        digests[row] = hash.of_headed_words(part.header_v6, words[0], words[1]);
    }
}

void append_v4_address(const KeySchemaPart& part, const KeyedRows& in, KeyColumns& key) noexcept {
    const auto& column = v4_column(part, in.headers);
    key.append_64([&](std::size_t row) {
        return part.header_v4 | std::uint64_t{column[row] & part.mask_v4} << 32;
    });
}
void append_v6_address(const KeySchemaPart& part, const KeyedRows& in, KeyColumns& key) noexcept {
    const auto& column = v6_column(part, in.headers);
    key.append_32([&](std::size_t) { return part.header_v6; });
    key.append_64([&](std::size_t row) { return masked_words(part, column[row])[0]; });
    key.append_64([&](std::size_t row) { return masked_words(part, column[row])[1]; });
}
void append_number(const KeySchemaPart& part, const KeyedRows& in, KeyColumns& key) noexcept {
    RowNumbers numbers;
    (void)in.headers.gather(part.field, in.rows, numbers);
    key.append_32([&](std::size_t) { return part.header_v4; });
    key.append_64([&](std::size_t row) { return numbers[row]; });
}

void append_parts(const KeySchema& schema, IpVersion version, const KeyedRows& in,
                  KeyColumns& key) noexcept {
    for (const KeySchemaPart& part : schema.fixed) {
        if (part.kind == Kind::Number) {
            append_number(part, in, key);
        } else if (version == IpVersion::V6) {
            append_v6_address(part, in, key);
        } else {
            append_v4_address(part, in, key);
        }
    }
    key.finish();
}

// Several parts, or a number. `version` is that of all rows.
SLUICE_AES void digest_parts(const KeySchema& schema, IpVersion version, const KeyedRows& in,
                             const AesHash& hash, RowDigests& digests) noexcept {
    KeyColumns key{in.rows};
    append_parts(schema, version, in, key);
    for (RowMask left = in.rows; left != 0; left &= left - 1) {
        const auto row = static_cast<std::size_t>(std::countr_zero(left));
        digests[row] =
            hash.of_words_at(key.size(), [&](std::size_t index) { return key.word(index, row); });
    }
}

SLUICE_AES void digest_fixed(const KeySchema& schema, IpVersion version, const KeyedRows& in,
                             const AesHash& hash, RowDigests& digests) noexcept {
    if (in.rows == 0) {
        return;
    }
    if (!schema.is_one_address) {
        digest_parts(schema, version, in, hash, digests);
    } else if (version == IpVersion::V6) {
        digest_v6_address(schema.fixed.front(), in, hash, digests);
    } else {
        digest_v4_address(schema.fixed.front(), in, hash, digests);
    }
}

RowMask rows_with_all_parts(const KeySchema& schema, const KeyedRows& in) noexcept {
    RowMask rows = in.rows;
    for (const KeySchemaPart& part : schema.fixed) {
        rows &= in.headers.present_rows(part.field);
    }
    return rows;
}

}  // namespace

RowMask digest_keys(const KeySchema& schema, const KeyedRows& in, const KeyHasher& hasher,
                    RowDigests& digests) noexcept {
    const auto& [frames, headers, rows] = in;
    const AesHash* const aes = hasher.aes();
    if (!schema.is_fixed || aes == nullptr) [[unlikely]] {
        return digest_by_bytes(schema, in, hasher, digests);
    }
    const RowMask complete = rows_with_all_parts(schema, in);
    const RowMask v6 = complete & headers.v6;
    digest_fixed(schema, IpVersion::V4, {frames, headers, complete & ~v6}, *aes, digests);
    RowMask others = schema.missing == MissingKey::Share ? rows & ~complete : 0;
    if (schema.is_fixed_v6) {
        digest_fixed(schema, IpVersion::V6, {frames, headers, v6}, *aes, digests);
    } else {
        others |= v6;
    }
    if (others != 0) [[unlikely]] {
        (void)digest_by_bytes(schema, {frames, headers, others}, hasher, digests);
    }
    return schema.missing == MissingKey::Share ? rows : complete;
}

}  // namespace sluice
