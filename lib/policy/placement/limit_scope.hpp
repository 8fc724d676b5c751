#pragma once
#include "lib/policy/expression/expression.hpp"
#include "lib/rules/port_rss_mapping.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <span>

namespace sluice {

// The packets that the limits under one key see.
struct ScopeQuestion {
    const Expression* condition = nullptr;  // nullptr: every packet, or unknown
    std::span<const KeyPart> key;
    MissingKey missing_key = MissingKey::Skip;
};

// True if all packets of one key always reach the same worker: at every port whose packets the
// condition may see, what is hashed is a function of the key's parts, and the ports agree on what
// is hashed and on which worker gets it. Doubt is no.
[[nodiscard]] bool is_local(const ScopeQuestion& asked, const RssMapping& box);

// A hash, for a local limit, of how the ports that the condition may see spread packets, and of
// which of them can share a key. While it stays the same, keys stay with their workers. Never 0.
[[nodiscard]] std::uint64_t rss_mapping_at_ports(const ScopeQuestion& asked, const RssMapping& box);

}  // namespace sluice
