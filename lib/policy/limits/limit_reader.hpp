#pragma once
#include "lib/policy/values/named_text.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// `per`, with the values that are not built yet.
enum class PerWord : std::uint8_t { Packet, Byte, Connection, Request, Query, Handshake };

[[nodiscard]] std::string_view name_of(PerWord per) noexcept;

// What is built of it; nullopt: it is not.
[[nodiscard]] std::optional<Per> counted(PerWord per) noexcept;

// The value of `per`, if given; what is not built is reported.
[[nodiscard]] std::optional<PerWord> read_per(const MapReader& map, const ReadContext& context);

// One limit as written.
struct LimitText {
    std::optional<AnyLimit> numbers;  // nullopt: wrong, or not built yet (reported)
    PerWord per = PerWord::Packet;
    std::string text;   // "token_bucket 50/s burst 200"
    std::string bound;  // the most it admits in any window W: "200 packets + 50/s * W"
    // What its state depends on beside its numbers: algorithm, window, buckets, edge, ...
    std::vector<NamedText> schema;
};

// Reads an inline or a named limit; `rule_per` counts where the limit has no `per` of its own.
[[nodiscard]] LimitText read_limit(const YamlNode& node, std::optional<PerWord> rule_per,
                                   const ReadContext& context);

}  // namespace sluice
