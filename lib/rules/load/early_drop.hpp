#pragma once
#include "lib/packet/ip_address.hpp"
#include "lib/rules/early_drop_source.hpp"
#include "lib/rules/load/loaded_set.hpp"
#include "lib/rules/load/source_verdicts.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

// Source addresses of which one rule drops every well-formed packet, whatever else is in it. Or one
// that passes, within such a network: it is left to the box.
struct DroppedNetwork {
    IpPrefix from;
    std::uint32_t rule = 0;        // index in the set
    Nanoseconds until = kForever;  // UTC
    EarlyDropSource source = EarlyDropSource::Condition;

    [[nodiscard]] bool passes() const noexcept { return source == EarlyDropSource::Exempt; }
};
struct DroppedNetworks {
    std::vector<DroppedNetwork> networks;
    std::uint64_t left_out = 0;  // for which there was no room
};

// Finds what may be dropped before it reaches the box, `most` networks at most, bans before deny
// lists and those of networks first. What passes within a network comes before it, and where there
// is no room for all of that the network is left out: so whoever has only the first of them drops
// nothing that passes. Proven of the compiled set, so that whatever is not understood here is left
// to the box:
//
//   on_match: drop    enforced, by ip.src (and dir and port) alone, and no rule with on_match and
//                     no budget of `bypass` before it can match a packet of the address
//   a key's ban       set by an operator or an override file, under an enforced rule that drops
//                     what is banned, whose only key is ip.src or a prefix of it and which every
//                     packet of the key matches; no rule with on_match, no budget, no rule that
//                     answers or shapes and none with `rejected_spend` can match one
//   a network's ban   the same of all keys in it, but for those that are exempt: they pass
//   a penalty box     the same of a ban of such a rule that drops
//
// A ban of a rule with `applies_to: source` needs no more than that no budget can match a packet of
// the address: it comes before all rules.
//
// A rule that is active at times alone drops nothing early.
//
// All of them hold of packets that are not looked into (`tunnels`), where malformed ones are
// dropped too: that is the caller's to know.
class EarlyDropProof {
public:
    // The set outlives it.
    EarlyDropProof(const RuleSet& set, const ReceivingPort& port)
        : set_{set}, verdicts_{set, port} {}

    // All that the set itself says, `most` at most.
    [[nodiscard]] DroppedNetworks networks(std::size_t most);
    // A key that has gone to the penalty box, by its canonical bytes; nullopt: it is left to the
    // box.
    [[nodiscard]] std::optional<DroppedNetwork> boxed(std::uint32_t rule, ByteView key,
                                                      Nanoseconds until);

private:
    [[nodiscard]] bool decides(std::uint32_t rule, const IpPrefix& from);
    void add_bans(std::uint32_t rule, const KeyPart& key, DroppedNetworks& found, std::size_t most);
    void add_network_bans(std::uint32_t rule, DroppedNetworks& found, std::size_t most);
    void add_denied(IpVersion version, DroppedNetworks& found, std::size_t most);

    const RuleSet& set_;
    SourceVerdicts verdicts_;
};

// True if the kernel may be told of the bans of such a rule: what else rules say of a source is
// left to the proof.
[[nodiscard]] bool boxes_sources(const Rule& rule) noexcept;

// True if overrides exempt the only key of such a rule, or have: they come before its penalty box.
[[nodiscard]] bool may_be_exempt(const LoadedRule& rule, ByteView key);

// The source addresses that the canonical bytes of a key are; nullopt: they are something else.
[[nodiscard]] std::optional<IpPrefix> source_of_key(ByteView key);

}  // namespace sluice
