#pragma once
#include "lib/l7/stream/service.hpp"
#include "lib/policy/clauses/clause.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

// The port at which clients speak this protocol inside of TLS, where no reader sees it; nullopt:
// there is none.
[[nodiscard]] constexpr std::optional<std::uint16_t> port_of_tls(
    ServiceProtocol protocol) noexcept {
    switch (protocol) {
        case ServiceProtocol::Http:
            return 443;
        case ServiceProtocol::Dns:
            return 853;
        default:
            return std::nullopt;
    }
}

// True if a clause names destination ports, and this one among them.
[[nodiscard]] inline bool names_port(const std::vector<Clause>& clauses, const SetPool& pool,
                                     std::uint16_t port) {
    return std::ranges::any_of(clauses, [&](const Clause& clause) {
        return std::ranges::any_of(clause.fields, [&](const ClauseTerm& term) {
            const std::vector<WideRange>& ranges = pool[term.set].numbers;
            return term.field == Field::L4Dport &&
                   std::ranges::any_of(ranges, [&](const WideRange& range) {
                       return range.first <= port && port <= range.last;
                   });
        });
    });
}

// True if every clause names this destination port and no other. False: there is none.
[[nodiscard]] inline bool are_at_port(const std::vector<Clause>& clauses, const SetPool& pool,
                                      std::uint16_t port) {
    return !clauses.empty() && std::ranges::all_of(clauses, [&](const Clause& clause) {
        return std::ranges::any_of(clause.fields, [&](const ClauseTerm& term) {
            const DomainSet& set = pool[term.set];
            return term.field == Field::L4Dport && !set.absent && set.numbers.size() == 1 &&
                   set.numbers.front() == WideRange{port, port};
        });
    });
}

}  // namespace sluice
