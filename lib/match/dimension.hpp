#pragma once
#include "lib/match/address_table.hpp"
#include "lib/match/classifier_parts.hpp"
#include "lib/packet/header_columns.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sluice {

// How values are looked up. Slim: the same answers by halving, without the tables of addresses and
// of large numbers, for processes that look up few packets or none.
enum class Lookups : std::uint8_t { Fast, Slim };

// A look-up from the value of one field to the row of clauses that it satisfies.
class Dimension {
public:
    Dimension(const DimensionParts& parts, Lookups lookups);

    // The use of each packet's row, times the stride.
    enum class To : std::uint8_t { Set, Add };
    // The row of each of `rows` of a burst; of other rows any that there is. `parts`: those it was
    // made from.
    template <To kTo>
    void find_rows(const HeaderColumns& columns, RowMask rows, const DimensionParts& parts,
                   std::uint32_t* found) const noexcept;
    // The weight of a row: 1 by default.
    void set_stride(std::uint32_t stride);
    [[nodiscard]] std::uint32_t stride() const noexcept { return stride_; }

    // With fast look-ups, whichever it has.
    [[nodiscard]] std::size_t bytes(const DimensionParts& parts) const noexcept;

private:
    template <To kTo>
    void find_in_table(const HeaderColumns& columns, RowMask rows,
                       std::uint32_t* found) const noexcept;
    void find_number(const HeaderColumns& columns, RowMask rows, const DimensionParts& parts,
                     std::uint32_t* found) const noexcept;
    void find_address(const HeaderColumns& columns, RowMask rows, const DimensionParts& parts,
                      std::uint32_t* found) const noexcept;
    Field field_;
    std::uint32_t absent_row_;
    bool is_inner_;  // an address that PacketHeaders holds
    std::uint32_t stride_ = 1;
    std::vector<std::uint16_t> table_;  // rows times the stride, by number, and when it is absent
    AddressTables addresses_;
    std::shared_ptr<const RangeTable<std::uint64_t>> numbers_;  // copies of a dimension share it
};

}  // namespace sluice
