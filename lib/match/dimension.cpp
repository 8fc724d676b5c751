#include "lib/match/dimension.hpp"

#include <algorithm>

namespace sluice {
namespace {

std::vector<std::uint16_t> table_of(const DimensionParts& parts) {
    const std::size_t values = std::size_t{1} << key_bits(parts.field);
    std::vector<std::uint16_t> table(values + 1);
    for (auto step = parts.steps.begin(); step != parts.steps.end(); ++step) {
        const auto next = step + 1;
        const auto last = next == parts.steps.end() ? values : next->first;
        std::fill(table.begin() + static_cast<std::ptrdiff_t>(step->first),
                  table.begin() + static_cast<std::ptrdiff_t>(last),
                  static_cast<std::uint16_t>(step->row));
    }
    table.back() = static_cast<std::uint16_t>(parts.absent_row);
    return table;
}

}  // namespace

Dimension::Dimension(const DimensionParts& parts, Lookups lookups)
    : field_{parts.field},
      absent_row_{parts.absent_row},
      is_inner_{field_ == Field::IpSrc || field_ == Field::IpDst || field_ == Field::ClientIp} {
    if (row_of(field_).kind == FieldKind::Address) {
        if (lookups == Lookups::Fast) {
            addresses_ = AddressTables{parts};
        }
    } else if (key_bits(field_) <= kMaxTableBits) {
        table_ = table_of(parts);
    } else if (lookups == Lookups::Fast) {
        numbers_ = shared_table<RangeTable<std::uint64_t>>(std::span{parts.steps});
    }
}

std::size_t Dimension::bytes(const DimensionParts& parts) const noexcept {
    if (row_of(field_).kind == FieldKind::Address) {
        return addresses_.v4.bytes(parts.steps) + addresses_.v6.bytes(parts.v6_steps);
    }
    return table_.empty() ? RangeTable<std::uint64_t>::bytes_for(parts.steps)
                          : table_.size() * sizeof(table_.front());
}

void Dimension::set_stride(std::uint32_t stride) {
    stride_ = stride;
    for (std::uint16_t& row : table_) {
        row = static_cast<std::uint16_t>(row * stride);
    }
}

}  // namespace sluice
