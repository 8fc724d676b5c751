#pragma once
#include "lib/base/bytes.hpp"
#include "lib/match/text_parts.hpp"
#include "lib/packet/text_name.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The time that scanning for patterns takes on the worst text that is known for them. Some that
// compile in no time take a hundred times as long to scan for as others, and only the clock tells.
namespace sluice {

// The least that a core must be able to scan a second: 1/80 of the 812,744 full frames that
// 10 Gbit/s have, so that nine cores stand 1 Gbit/s of the worst text. A thousand words and short
// regular expressions together leave about five times as many.
inline constexpr std::uint64_t kLeastPacketsLeft = 10'000;

struct ScanCost {
    std::uint64_t ns = 0;     // of one text; 0: nothing is scanned for
    bool is_measured = true;  // all of it
};
using ScanCosts = std::array<ScanCost, kTextFieldCount>;

// Measures a database as Hyperscan writes it: processor time for the worst of the texts, the least
// of several tries, so that what else the machine does counts little. Takes some milliseconds at
// most, whatever the texts are. nullopt: there is no memory for it.
[[nodiscard]] std::optional<std::uint64_t> measure_scan(ByteView database, std::size_t patterns,
                                                        const std::vector<std::string>& texts);

// A warning about a field whose patterns cost too much; nullopt: they do not.
[[nodiscard]] std::optional<std::string> find_costly(TextField field, const ScanCost& cost,
                                                     const TextNames& names = {});

}  // namespace sluice
