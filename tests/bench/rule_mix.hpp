#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice::bench {

// A rule file of `count` rules, at least 64, over prefixes, ports, protocol, flags and lengths in
// any order, of which every well-formed packet of a PacketMill that writes whole flows matches
// exactly two: one of those that divide the destinations, one of those that divide the source
// ports. `limits` is the YAML of each rule's limits. Mixes of one seed whose `shift` differs have
// no condition in common, but nearly all packets match rules of the same id: ranges of ports begin
// that much later, and what holds of every packet is asked in another way.
[[nodiscard]] std::string mixed_rules(std::size_t count, const std::string& limits,
                                      std::uint64_t seed, unsigned shift = 0);

// Two rules without a condition, and the same limits.
[[nodiscard]] std::string two_rules(const std::string& limits);

}  // namespace sluice::bench
