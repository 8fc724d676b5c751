#include "lib/policy/services/service_warnings.hpp"

#include "lib/policy/clauses/clause_cover.hpp"
#include "lib/policy/clauses/clause_overlap.hpp"
#include "lib/policy/clauses/clause_union.hpp"
#include "lib/policy/services/port_of_tls.hpp"
#include "lib/rules/service_fault.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace sluice {
namespace {

class ServiceWarner {
public:
    ServiceWarner(const std::vector<PlacedService>& placed, SetPool& pool,
                  const CompiledRules& compiled, Problems& problems)
        : placed_{placed},
          pool_{pool},
          compiled_{compiled},
          problems_{problems},
          cover_{pool},
          overlap_{pool},
          union_{pool} {
        for (std::uint32_t service = 0; service < placed_.size(); ++service) {
            for (const Clause& clause : placed_[service].clauses) {
                cover_.add(clause, service);
            }
        }
    }

    void warn(std::uint32_t service) {
        warn_of_ports(service);
        warn_of_tls(service);
        const std::vector<std::uint32_t> before = meeting_before(service);
        if (const auto first = first_with_all(service, before)) {
            problems_.warning(placed_[service].at,
                              "this service is never reached: all that would reach it reaches `" +
                                  id_of(*first) + "` or another before it");
            return;
        }
        warn_of_others(service, before);
    }

private:
    // Pairs of clauses compared, at most: below the bound beyond which ClauseOverlap says yes.
    static constexpr std::size_t kMostLooks = 2'000'000;

    [[nodiscard]] const Service& service_of(std::uint32_t service) const {
        return compiled_.set.services[service];
    }
    [[nodiscard]] const std::string& id_of(std::uint32_t service) const {
        return service_of(service).id;
    }
    static std::string protocol_of(const Service& service) {
        return std::string{kServiceProtocolNames[static_cast<std::size_t>(service.protocol)]};
    }

    static bool names_any_port(const Clause& clause) {
        return std::ranges::any_of(clause.fields, [](const ClauseTerm& term) {
            return term.field == Field::L4Dport || term.field == Field::L4Sport;
        });
    }
    void warn_of_ports(std::uint32_t service) {
        const std::vector<Clause>& clauses = placed_[service].clauses;
        if (std::ranges::all_of(clauses, names_any_port)) {
            return;
        }
        const ServiceProtocol protocol = service_of(service).protocol;
        const std::string all = !runs_over_udp(protocol) ? "every TCP connection"
                                : !runs_over_tcp(protocol)
                                    ? "every UDP datagram"
                                    : "every TCP connection and UDP datagram";
        problems_.warning(placed_[service].when,
                          "this condition names no port: " + all + " there is taken for " +
                              protocol_of(service_of(service)) +
                              ", and what cannot be read as that is `unreadable`; add l4.dport");
    }

    void warn_of_tls(std::uint32_t service) {
        const std::optional<std::uint16_t> port = port_of_tls(service_of(service).protocol);
        if (port && names_port(placed_[service].clauses, pool_, *port)) {
            problems_.warning(placed_[service].when,
                              "at port " + std::to_string(*port) +
                                  " clients speak TLS, which is no " +
                                  protocol_of(service_of(service)) +
                                  ": all of it is `unreadable` to this service, and refused once "
                                  "it enforces; a service of protocol tls reads its hellos");
        }
    }

    // Services before this one that may have some of its packets.
    std::vector<std::uint32_t> meeting_before(std::uint32_t service) {
        const std::vector<Clause>& clauses = placed_[service].clauses;
        std::vector<std::uint32_t> meeting;
        for (std::uint32_t other = 0; other < service && looks_ < kMostLooks; ++other) {
            looks_ += clauses.size() * placed_[other].clauses.size();
            if (overlap_.may_meet(clauses, placed_[other].clauses)) {
                meeting.push_back(other);
            }
        }
        return meeting;
    }

    // The first service that has packets of this one, where services before it have all of them.
    std::optional<std::uint32_t> first_with_all(std::uint32_t service,
                                                const std::vector<std::uint32_t>& before) {
        std::optional<std::uint32_t> first;
        for (const Clause& clause : placed_[service].clauses) {
            std::optional<std::uint32_t> owner = cover_.first_owner(clause, service);
            if (!owner && union_.contains(clause, clauses_of(before))) {
                owner = before.front();
            }
            if (!owner) {
                return std::nullopt;
            }
            first = std::min(*owner, first.value_or(*owner));
        }
        return first;
    }
    [[nodiscard]] std::vector<const Clause*> clauses_of(
        const std::vector<std::uint32_t>& services) const {
        std::vector<const Clause*> clauses;
        for (const std::uint32_t service : services) {
            for (const Clause& clause : placed_[service].clauses) {
                clauses.push_back(&clause);
            }
        }
        return clauses;
    }

    void warn_of_others(std::uint32_t service, const std::vector<std::uint32_t>& before) {
        const auto other = std::ranges::find_if(before, [&](std::uint32_t one) {
            return service_of(one).protocol != service_of(service).protocol;
        });
        if (other != before.end()) {
            const std::string first = protocol_of(service_of(*other));
            problems_.warning(placed_[service].at,
                              "where the conditions of `" + id_of(*other) + "` (" + first +
                                  ") and `" + id_of(service) + "` (" +
                                  protocol_of(service_of(service)) + ") both hold, `" +
                                  id_of(*other) +
                                  "`, which stands first, has the connection, and it is read as " +
                                  first + " alone");
        }
    }

    const std::vector<PlacedService>& placed_;
    const SetPool& pool_;
    const CompiledRules& compiled_;
    Problems& problems_;
    ClauseCover cover_;
    ClauseOverlap overlap_;
    ClauseUnion union_;
    std::size_t looks_ = 0;
};

}  // namespace

void warn_of_services(const std::vector<PlacedService>& placed, SetPool& pool,
                      const CompiledRules& compiled, Problems& problems) {
    ServiceWarner warner{placed, pool, compiled, problems};
    for (std::uint32_t service = 0; service < placed.size(); ++service) {
        const bool is_known = compiled.services[placed[service].summary].is_known;
        if (is_known && !placed[service].clauses.empty()) {
            warner.warn(service);
        }
    }
}

}  // namespace sluice
