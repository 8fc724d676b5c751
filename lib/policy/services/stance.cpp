#include "lib/policy/services/stance.hpp"

#include "lib/packet/transport.hpp"
#include "lib/policy/clauses/clause_cover.hpp"
#include "lib/policy/clauses/clause_overlap.hpp"
#include "lib/policy/clauses/clause_union.hpp"
#include "lib/policy/services/protocol_set.hpp"
#include "lib/rules/service_fault.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>

namespace sluice {
namespace {

// Services of one protocol, and those of others.
struct OfProtocol {
    explicit OfProtocol(const SetPool& pool) : cover{pool}, others{pool} {}

    ClauseCover cover;
    ClauseCover others;
    std::vector<std::uint32_t> services;
    std::optional<SetId> transport;
};

class StanceFinder {
public:
    StanceFinder(const std::vector<PlacedService>& services, SetPool& pool, CompiledRules& compiled)
        : services_{services},
          pool_{pool},
          compiled_{compiled},
          overlap_{pool},
          union_{pool},
          protocols_{OfProtocol{pool}, OfProtocol{pool}, OfProtocol{pool}, OfProtocol{pool}} {
        for (const ServiceProtocol protocol : kServiceProtocols) {
            of(protocol).transport = pool.add(Field::IpProto, transport_of(protocol));
        }
        for (std::uint32_t service = 0; service < services_.size(); ++service) {
            OfProtocol& known = of(summary_of(service).protocol);
            known.services.push_back(service);
            for (const Clause& clause : services_[service].clauses) {
                for (OfProtocol& one : protocols_) {
                    (&one == &known ? one.cover : one.others).add(clause, service);
                }
            }
        }
    }

    void note(const PlacedRule& placed, const Rule& rule) {
        RuleSummary& summary = compiled_.rules[placed.summary];
        const ProtocolSet read = protocols_of(rule, summary.condition, compiled_.set.named_texts,
                                              compiled_.set.clients != nullptr);
        found_.clear();
        uncovered_.clear();
        takers_.clear();
        without_tcp_.reset();
        found_protocols_ = {};
        if (read.empty()) {
            if (is_known(summary) && counts_units(rule)) {
                write(Stance::Kind::Nothing, summary.stance);
            }
            return;
        }
        for (const Clause& clause : placed.clauses) {
            for (const ServiceProtocol protocol : kServiceProtocols) {
                if (!protocols_of(clause, pool_, read, compiled_.set.named_texts).has(protocol)) {
                    continue;
                }
                const std::optional<Clause> there = over_transport(clause, protocol);
                if (!there || is_taken(*there, protocol)) {
                    continue;
                }
                found_protocols_.add_all({protocol});
                if (!take_covering(*there, protocol)) {
                    const std::vector<std::uint32_t> meeting =
                        all_meeting(*there, of(protocol).services);
                    found_.insert(meeting.begin(), meeting.end());
                    if (!are_covering(*there, meeting)) {
                        uncovered_.push_back(*there);
                    }
                }
            }
        }
        const bool all = uncovered_.empty();
        const bool some = !found_.empty();
        using Kind = Stance::Kind;
        Kind kind = all && some ? Kind::Service : some ? Kind::Partly : Kind::Anywhere;
        if (found_protocols_.empty() && needs_units(placed, rule)) {
            kind = Kind::Nothing;
            found_ = takers_;
        }
        if (!is_known(summary)) {
            kind = Kind::Unknown;
        }
        write(kind, summary.stance);
        if (kind == Kind::Partly) {
            summary.stance.beyond = fields_beyond();
        }
    }

private:
    [[nodiscard]] OfProtocol& of(ServiceProtocol protocol) {
        return protocols_[static_cast<std::size_t>(protocol)];
    }
    [[nodiscard]] const ServiceSummary& summary_of(std::uint32_t service) const {
        return compiled_.services[services_[service].summary];
    }
    static DomainSet transport_of(ServiceProtocol protocol) {
        DomainSet set;
        if (runs_over_tcp(protocol)) {
            set.numbers.push_back({kProtoTcp, kProtoTcp});
        }
        if (runs_over_udp(protocol)) {
            set.numbers.push_back({kProtoUdp, kProtoUdp});
        }
        return set;
    }

    static bool counts_units(const Rule& rule) {
        return std::any_of(rule.limits.begin(), rule.limits.end(),
                           [](const MeteredLimit& limit) { return !is_of_packet(limit.per); });
    }

    // False: some packet without any unit may be its, or it is not known whole.
    [[nodiscard]] bool needs_units(const PlacedRule& placed, const Rule& rule) const {
        const bool counts_packets =
            rule.limits.empty() ||
            std::any_of(rule.limits.begin(), rule.limits.end(),
                        [](const MeteredLimit& limit) { return is_of_packet(limit.per); });
        const auto tests_unit = [this](const TextTerm& term) {
            return !term.negated && is_of_unit(pool_.texts()[term.test].field);
        };
        return !placed.clauses.empty() &&
               (!counts_packets ||
                std::all_of(
                    placed.clauses.begin(), placed.clauses.end(), [&](const Clause& clause) {
                        return std::any_of(clause.texts.begin(), clause.texts.end(), tests_unit);
                    }));
    }

    // A list that is missing may have held anything.
    [[nodiscard]] bool is_known(const RuleSummary& rule) const {
        return (!rule.sees_all || rule.when.empty()) &&
               std::all_of(services_.begin(), services_.end(), [&](const PlacedService& service) {
                   return compiled_.services[service.summary].is_known;
               });
    }

    // The part of a clause that can be of the protocol; nullopt: none.
    std::optional<Clause> over_transport(Clause clause, ServiceProtocol protocol) {
        return over(std::move(clause), *of(protocol).transport);
    }
    std::optional<Clause> over(Clause clause, SetId transport) {
        const auto at = std::lower_bound(
            clause.fields.begin(), clause.fields.end(), Field::IpProto,
            [](const ClauseTerm& term, Field field) { return term.field < field; });
        if (at == clause.fields.end() || at->field != Field::IpProto) {
            clause.fields.insert(at, {Field::IpProto, transport});
            return clause;
        }
        at->set = pool_.intersect(at->set, transport);
        return pool_[at->set].empty() ? std::nullopt : std::optional{std::move(clause)};
    }

    // True if all of the clause's packets reach services of other protocols before any of this
    // one. Over two transports each has to.
    bool is_taken(const Clause& clause, ServiceProtocol protocol) {
        bool some = false;
        bool all = true;
        for (const Wide transport : {Wide{kProtoTcp}, Wide{kProtoUdp}}) {
            const std::optional<Clause> there =
                over(clause, pool_.add(Field::IpProto, {.numbers = {{transport, transport}}}));
            if (!there) {
                continue;
            }
            const std::vector<std::uint32_t> takers = takers_of(*there, protocol);
            if (takers.empty()) {
                all = false;
                continue;
            }
            takers_.insert(takers.begin(), takers.end());
            without_tcp_ = transport == kProtoTcp ? std::optional{takers.front()} : without_tcp_;
            some = true;
        }
        return some && all;
    }
    // Services of other protocols that have all of the clause's packets, alone or together.
    std::vector<std::uint32_t> takers_of(const Clause& clause, ServiceProtocol protocol) {
        const std::uint32_t end = first_meeting(clause, protocol);
        if (const auto taker = of(protocol).others.first_owner(clause, end)) {
            return {*taker};
        }
        std::vector<std::uint32_t> before;
        for (std::uint32_t service = 0; service < end; ++service) {
            if (summary_of(service).protocol != protocol) {
                before.push_back(service);
            }
        }
        before = all_meeting(clause, before);
        return are_covering(clause, before) ? before : std::vector<std::uint32_t>{};
    }

    std::uint32_t first_meeting(const Clause& clause, ServiceProtocol protocol) {
        const std::vector<Clause> one{clause};
        for (const std::uint32_t service : of(protocol).services) {
            if (overlap_.may_meet(one, services_[service].clauses)) {
                return service;
            }
        }
        return static_cast<std::uint32_t>(services_.size());
    }

    // The clauses of `among` that may have some of the clause's packets.
    std::vector<std::uint32_t> all_meeting(const Clause& clause,
                                           const std::vector<std::uint32_t>& among) {
        const std::vector<Clause> one{clause};
        std::vector<std::uint32_t> meeting;
        std::ranges::copy_if(among, std::back_inserter(meeting), [&](std::uint32_t service) {
            return overlap_.may_meet(one, services_[service].clauses);
        });
        return meeting;
    }

    // True if these services have all of the clause's packets together.
    bool are_covering(const Clause& clause, const std::vector<std::uint32_t>& services) {
        std::vector<const Clause*> theirs;
        for (const std::uint32_t service : services) {
            for (const Clause& one : services_[service].clauses) {
                theirs.push_back(&one);
            }
        }
        return union_.contains(clause, theirs);
    }

    bool take_covering(const Clause& clause, ServiceProtocol protocol) {
        const std::optional<std::uint32_t> service =
            of(protocol).cover.first_owner(clause, static_cast<std::uint32_t>(services_.size()));
        if (service) {
            found_.insert(*service);
        }
        return service.has_value();
    }

    // The fields by which the rule's clauses are not within the services that have packets of
    // theirs: of each clause those by which it misses the nearest of the services' clauses.
    std::vector<Field> fields_beyond() {
        std::set<Field> all;
        for (const Clause& clause : uncovered_) {
            std::optional<std::vector<Field>> fewest;
            for (const std::uint32_t service : found_) {
                for (const Clause& one : services_[service].clauses) {
                    const auto there = over_transport(one, summary_of(service).protocol);
                    std::vector<Field> fields = fields_outside(clause, there.value_or(one));
                    if (!fewest || fields.size() < fewest->size()) {
                        fewest = std::move(fields);
                    }
                }
            }
            if (fewest) {
                all.insert(fewest->begin(), fewest->end());
            }
        }
        return {all.begin(), all.end()};
    }
    // The fields of which `clause` has values that `outer` has not.
    std::vector<Field> fields_outside(const Clause& clause, const Clause& outer) {
        std::vector<Field> fields;
        for (const ClauseTerm& term : outer.fields) {
            const auto own = std::ranges::find(clause.fields, term.field, &ClauseTerm::field);
            if (own == clause.fields.end() || !pool_.contains(term.set, own->set)) {
                fields.push_back(term.field);
            }
        }
        return fields;
    }

    void write(Stance::Kind kind, Stance& stance) const {
        stance.kind = kind;
        for (const ServiceProtocol protocol : kServiceProtocols) {
            if (found_protocols_.has(protocol)) {
                stance.protocols.push_back(protocol);
            }
        }
        if (without_tcp_ && found_protocols_.has(ServiceProtocol::Dns)) {
            stance.without_tcp = summary_of(*without_tcp_).id;
        }
        for (const std::uint32_t service : found_) {
            const ServiceSummary& summary = summary_of(service);
            stance.services.push_back(summary.id);
            if (summary.mode == Mode::Monitor) {
                stance.monitored.push_back(summary.id);
            }
        }
    }

    const std::vector<PlacedService>& services_;
    SetPool& pool_;
    CompiledRules& compiled_;
    ClauseOverlap overlap_;
    ClauseUnion union_;
    std::array<OfProtocol, kServiceProtocols.size()> protocols_;
    std::set<std::uint32_t> found_;
    std::vector<Clause> uncovered_;  // of a protocol whose services have not all of their packets
    std::optional<std::uint32_t> without_tcp_;
    std::set<std::uint32_t> takers_;  // services of other protocols that have a clause's packets
    ProtocolSet found_protocols_;
};

}  // namespace

void note_stances(const std::vector<PlacedService>& services, const std::vector<PlacedRule>& rules,
                  SetPool& pool, CompiledRules& compiled) {
    StanceFinder finder{services, pool, compiled};
    for (std::size_t i = 0; i < rules.size(); ++i) {
        finder.note(rules[i], compiled.set.rules[i]);
    }
}

}  // namespace sluice
