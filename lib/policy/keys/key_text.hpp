#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/rule_set.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

// A key as people write it, `part|part` in the fields' text forms, turned into the bytes that the
// pipeline makes of a packet: 192.0.2.7|443, 2001:db8::/64, aa:bb:cc:dd:ee:ff, in. `\xNN` stands
// for a byte that would end a part or a line.
namespace sluice {

struct ReadKey {
    std::uint8_t index = 0;  // of the rule's keys
    KeyBytes bytes;
    std::string text;  // in one spelling
};

// BadSyntax, OutOfRange: what is wrong, and with which part. An address without a length, where the
// key has networks, means the network it lies in. `names` are those of the key's rule set.
[[nodiscard]] Result<ReadKey> read_key_text(const GroupingKey& key, std::string_view text,
                                            const TextNames& names = {});

// The part of a text of such a key that is a single address where the key has networks, as a fault:
// the key has more addresses than it says. nullopt: it has none.
[[nodiscard]] std::optional<Error> find_narrower(const GroupingKey& key, std::string_view text);

// Reads a text as the one of a rule's keys that it can be. `tier`, from 1 on, names it; without, a
// text that could be more than one is refused. With `missing` as Share the empty text stands for
// the packets that lack a part.
[[nodiscard]] Result<ReadKey> read_key_of_rule(std::span<const GroupingKey> keys,
                                               MissingKey missing, std::string_view text,
                                               std::optional<std::size_t> tier = std::nullopt,
                                               const TextNames& names = {});

// A network of keys, of those that are one address: `192.0.2.0/24`, shorter than the key itself.
// Its bytes are those that a key of this length would have.
[[nodiscard]] Result<ReadKey> read_network_of_rule(std::span<const GroupingKey> keys,
                                                   std::string_view text,
                                                   std::optional<std::size_t> tier);

// `ip.src|l4.dport`, `prefix(ip.src, 24|64)`: what a text of this key looks like.
[[nodiscard]] std::string shape_of(const GroupingKey& key, const TextNames& names = {});

}  // namespace sluice
