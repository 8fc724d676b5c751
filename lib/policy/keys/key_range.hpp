#pragma once
#include "lib/base/result.hpp"
#include "lib/base/wide.hpp"
#include "lib/policy/keys/key_text.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

// Neighbouring keys of one address, from the first address of the first to the last of the last.
struct KeyRange {
    std::uint8_t index = 0;  // of the rule's keys
    IpVersion version = IpVersion::None;
    Wide first = 0;  // addresses as numbers
    Wide last = 0;

    [[nodiscard]] bool operator==(const KeyRange&) const noexcept = default;
};

// True if a text could mean a network or a range: it has a `/`, or a `-`.
[[nodiscard]] bool may_be_range(std::string_view text) noexcept;

// `10.0.0.0/8`, of keys that are one address, or `10.0.0.5-10.0.0.20`, both ends within it. It has
// one key or more, each of them whole. `tier`, from 1 on, names the rule's key; without, one
// that could be of several is refused.
[[nodiscard]] Result<KeyRange> read_key_range(std::span<const GroupingKey> keys,
                                              std::string_view text,
                                              std::optional<std::size_t> tier,
                                              const TextNames& names = {});

// The key that a range has alone; nullopt: it has several. The range is of one of the rule's keys.
[[nodiscard]] std::optional<ReadKey> single_key(std::span<const GroupingKey> keys,
                                                const KeyRange& range);

// `10.0.0.0/8` where it is a network, else `10.0.0.5-10.0.0.20`.
[[nodiscard]] std::string to_text(const KeyRange& range);

}  // namespace sluice
