#pragma once
#include "lib/policy/expression/expression.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

// Facts that are known of a packet before it comes.
struct KnownFacts {
    std::optional<std::uint64_t> dir{};
    std::optional<std::uint64_t> port{};  // port_name() of the pair
    std::optional<std::uint64_t> frag{};
    std::optional<std::uint64_t> version{};
    std::optional<std::uint64_t> proto{};
    bool proto_has_no_hashed_ports = false;  // it is neither TCP nor UDP
    bool with_any_list = false;              // the addresses of lists may be any
};

// True if a packet with these facts might match. All other conditions count as undecided, so true
// may be wrong, and false is certain.
[[nodiscard]] bool may_match(const Expression& condition, const KnownFacts& facts);

// The versions of IP of packets that might match, whatever the files of lists come to hold; where
// one is false, that is certain.
[[nodiscard]] IpVersions versions_let_through(const Expression& condition);

}  // namespace sluice
