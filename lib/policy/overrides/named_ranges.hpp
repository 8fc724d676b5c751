#pragma once
#include "lib/policy/keys/key_range.hpp"
#include "lib/policy/overrides/override_rows.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// A network or range of `overrides`, and the first row that has it.
struct NamedRange {
    KeyRange range;
    std::uint32_t plan = 0;  // in Overrides::plans
    OverridePlace place;
    bool exempt = false;                          // else it has numbers
    Nanoseconds until = kForever;                 // UTC
    std::shared_ptr<const std::string> reason{};  // as its row has it; nullptr: none
};
// By key, version and first address; of several with one first address the larger before.
using NamedRanges = std::vector<NamedRange>;

// Ranges that hold a key, given by its canonical bytes, the smallest first.
[[nodiscard]] std::vector<const NamedRange*> ranges_around(const NamedRanges& ranges,
                                                           std::uint8_t key, ByteView bytes);

// The nth of these, from 1 on; nullptr: there is none.
[[nodiscard]] const NamedRange* range_around(const NamedRanges* ranges, std::uint8_t key,
                                             ByteView bytes, std::size_t nth);

// `override file`, `rule file`.
[[nodiscard]] std::string_view source_name(OverrideSource source) noexcept;

// `10.0.0.0/8, line 2 of the override file`.
[[nodiscard]] std::string text_with_place(const NamedRange& range);

}  // namespace sluice
