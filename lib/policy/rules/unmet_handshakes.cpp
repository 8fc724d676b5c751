#include "lib/policy/rules/unmet_handshakes.hpp"

#include "lib/bucket/meter/concurrency_limit.hpp"
#include "lib/packet/tcp_flags.hpp"
#include "lib/policy/clauses/clause_overlap.hpp"
#include "lib/policy/clauses/tcp_segments.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>

namespace sluice {
namespace {

// A kind of segment: which flags say that it is one.
struct AskedSegment {
    unsigned flags = 0;  // of SYN, ACK and RST
    std::string_view name;
};
constexpr unsigned kTellingFlags = kTcpSyn | kTcpAck | kTcpRst;
constexpr auto kAskedAbout = std::to_array<AskedSegment>(
    {{kTcpSyn, "the SYN"}, {kTcpAck, "the ACK that completes its handshake"}});

bool counts_from_handshakes(const Rule& rule) {
    return std::any_of(rule.limits.begin(), rule.limits.end(), [](const MeteredLimit& limit) {
        const auto* const open = std::get_if<ConcurrencyLimit>(&limit.limit);
        return open != nullptr && open->from == CountedFrom::Established;
    });
}

}  // namespace

void warn_of_unmet_handshakes(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                              SetPool& pool, Problems& problems) {
    const std::vector<Rule>& rules = compiled.set.rules;
    if (std::none_of(rules.begin(), rules.end(), counts_from_handshakes)) {
        return;
    }
    ClauseOverlap overlap{pool};
    for (const AskedSegment& kind : kAskedAbout) {
        const std::vector<Clause> packets{
            segments_with(kind.flags, kTellingFlags & ~kind.flags, pool)};
        for (std::size_t i = 0; i < placed.size(); ++i) {
            const bool counts_none = counts_from_handshakes(rules[i]) &&
                                     !placed[i].clauses.empty() &&
                                     !overlap.may_meet(placed[i].clauses, packets);
            if (counts_none && !rules[i].candidate) {
                problems.warning(placed[i].at,
                                 "this rule counts no connection: `from: established` asks about " +
                                     std::string{kind.name} +
                                     ", which the condition does not let through; leave "
                                     "`tcp.flags` out of it");
            }
        }
    }
}

}  // namespace sluice
