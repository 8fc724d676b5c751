#include "lib/policy/services/unit_warnings.hpp"

#include "lib/l7/stream/unit_capacity.hpp"
#include "lib/packet/transport.hpp"
#include "lib/policy/services/port_of_tls.hpp"
#include "lib/policy/services/protocol_set.hpp"
#include "lib/rules/rule_actions.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace sluice {
namespace {

class UnitWarner {
public:
    UnitWarner(const CompiledRules& compiled, const SetPool& pool, Problems& problems)
        : compiled_{compiled}, pool_{pool}, problems_{problems} {}

    void warn(const PlacedRule& placed, const Rule& rule) {
        const Stance& stance = compiled_.rules[placed.summary].stance;
        if (stance.kind == Stance::Kind::Nothing) {
            problems_.warning(placed.at, text_of_nothing(rule, stance));
            return;
        }
        if (!stance.without_tcp.empty()) {
            problems_.warning(placed.at,
                              "over TCP this rule never sees a query: what it could be "
                              "about reaches `" +
                                  stance.without_tcp + "`, a service of another protocol");
        }
        warn_of_tls(placed, stance);
        if (rule.mode == Mode::Enforce) {
            warn_of_unread(placed, rule, stance);
            warn_of_packets(placed, rule, stance);
        }
        warn_of_answers(placed, rule, stance);
    }

private:
    static std::string takers_text(const Stance& stance) {
        const std::string first = "`" + stance.services.front() + "`";
        return stance.services.size() == 1
                   ? first + ", a service of another protocol, which is read as that"
                   : first + " and others, services of other protocols, which are read as those";
    }
    static std::string text_of_nothing(const Rule& rule, const Stance& stance) {
        const std::string begin = rule.has_limits() ? "this rule can never count anything: "
                                                    : "this rule can never match anything: ";
        return stance.services.empty()
                   ? begin +
                         "its condition, its key and what it counts are of different protocols, "
                         "and a request, hello or query is of one"
                   : begin + "all that it could be about reaches " + takers_text(stance) + " alone";
    }

    [[nodiscard]] const Service* find_service(const std::string& id) const {
        const auto& all = compiled_.set.services;
        const auto found = std::ranges::find(all, id, &Service::id);
        return found == all.end() ? nullptr : &*found;
    }
    // The first of the rule's services that this holds for.
    template <typename Holds>
    [[nodiscard]] const Service* first_of(const Stance& stance, Holds&& holds) const {
        for (const std::string& id : stance.services) {
            const Service* const service = find_service(id);
            if (service != nullptr && holds(*service)) {
                return service;
            }
        }
        return nullptr;
    }

    // A service that is declared there has a warning of its own.
    void warn_of_tls(const PlacedRule& placed, const Stance& stance) const {
        const bool is_of_one = stance.protocols.size() == 1 && stance.services.empty();
        const auto port = is_of_one ? port_of_tls(stance.protocols.front()) : std::nullopt;
        if (port && are_at_port(placed.clauses, pool_, *port)) {
            problems_.warning(
                placed.at,
                "at port " + std::to_string(*port) + " clients speak TLS, in which no " +
                    std::string{
                        kServiceProtocolNames[static_cast<std::size_t>(stance.protocols.front())]} +
                    " can be read: this rule sees none of it; handshakes and "
                    "`tls.sni` can be limited there");
        }
    }

    // Bytes that cannot be read have proto.l7 and no other text of a unit.
    [[nodiscard]] bool matches_unread(const Clause& clause) const {
        return std::ranges::all_of(clause.texts, [&](const TextTerm& term) {
            const TextField field = pool_.texts()[term.test].field;
            return term.negated || field == TextField::ProtoL7 || !is_of_unit(field);
        });
    }
    static bool counts_unread(const Rule& rule, const MeteredLimit& limit) {
        const auto is_read = [](const KeyPart& part) {
            return part.text && *part.text != TextField::ProtoL7 && is_of_unit(*part.text);
        };
        return std::ranges::none_of(limit.of, is_read) &&
               (rule.missing_key != MissingKey::Skip ||
                std::ranges::none_of(rule.keys[limit.key], is_read));
    }
    void warn_of_unread(const PlacedRule& placed, const Rule& rule, const Stance& stance) {
        const Service* const counting = first_of(stance, [](const Service& service) {
            return service.on_unreadable == OnUnreadable::Count;
        });
        if (counting == nullptr) {
            return;
        }
        const bool is_matched = placed.clauses.empty() ||
                                std::ranges::any_of(placed.clauses, [&](const Clause& clause) {
                                    return matches_unread(clause);
                                });
        const bool is_counted =
            rule.limits.empty() || std::ranges::any_of(rule.limits, [&](const MeteredLimit& limit) {
                return counts_unread(rule, limit);
            });
        if (!is_matched || !is_counted) {
            problems_.warning(
                placed.at,
                "this rule can be walked around over `" + counting->id +
                    "`: what its `on_unreadable: count` lets pass unread is charged, one for each "
                    "1,460 "
                    "bytes, to rules alone whose condition and key read no field of layer 7 but "
                    "`proto.l7`; this one reads others, which those bytes have not");
        }
    }

    // A packet without a request has no such text.
    [[nodiscard]] bool is_of_request(TextField field) const {
        return protocols_of(field, compiled_.set.named_texts) == ProtocolSet{ServiceProtocol::Http};
    }
    [[nodiscard]] bool asks_for_request(const Clause& clause) const {
        return std::ranges::any_of(clause.texts, [&](const TextTerm& term) {
            return !term.negated && is_of_request(pool_.texts()[term.test].field);
        });
    }
    [[nodiscard]] bool is_over_requests(const PlacedRule& placed, const Rule& rule,
                                        const MeteredLimit& limit) const {
        const auto is_read = [&](const KeyPart& part) {
            return part.text && is_of_request(*part.text);
        };
        const bool has_key = std::ranges::any_of(rule.keys[limit.key], is_read) ||
                             std::ranges::any_of(limit.of, is_read);
        const bool is_asked = !placed.clauses.empty() &&
                              std::ranges::all_of(placed.clauses, [&](const Clause& clause) {
                                  return asks_for_request(clause);
                              });
        return has_key || is_asked;
    }
    void warn_of_packets(const PlacedRule& placed, const Rule& rule, const Stance& stance) {
        const auto counts = [&](const MeteredLimit& limit) {
            return limit.per == Per::Packet && is_over_requests(placed, rule, limit);
        };
        const bool has_others = std::ranges::any_of(
            rule.limits, [](const MeteredLimit& limit) { return limit.per == Per::Request; });
        if (!stance.services.empty() && !has_others && std::ranges::any_of(rule.limits, counts)) {
            problems_.warning(placed.at, "this rule can be walked around over `" +
                                             stance.services.front() +
                                             "`: it counts packets, and one may hold " +
                                             std::to_string(kMaxUnits) +
                                             " requests; `per: request` counts each of them");
        }
    }

    void warn_of_answers(const PlacedRule& placed, const Rule& rule, const Stance& stance) {
        for (const auto& [use, index] : actions_of(rule)) {
            const Action& action = compiled_.set.actions[index];
            // The answers of bans and colours get no warning.
            const bool is_warned_of = use == ActionUse::Match || use == ActionUse::Exceed;
            if (!is_warned_of || !has_use(rule, use) ||
                (action.verdict != Verdict::Reply && action.verdict != Verdict::Decoy)) {
                continue;
            }
            const bool asks_again = action.answer.response == 0;
            const bool sees_queries =
                stance.protocols.empty() ||
                std::ranges::find(stance.protocols, ServiceProtocol::Dns) != stance.protocols.end();
            if (asks_again && !sees_queries) {
                problems_.warning(placed.at,
                                  "`dns_truncate` answers queries over UDP, which this rule never "
                                  "sees: what it refuses goes by `then`");
            } else if (!asks_again) {
                warn_of_one_way(placed, action, stance);
                warn_of_unanswered(placed, rule);
            }
        }
    }
    // Packets of TCP that carry no unit, a SYN among them.
    [[nodiscard]] bool has_openings(const Clause& clause) const {
        return std::ranges::all_of(clause.texts, &TextTerm::negated) &&
               std::ranges::all_of(clause.fields, [&](const ClauseTerm& term) {
                   const auto has_tcp = [](const WideRange& range) {
                       return range.first <= kProtoTcp && kProtoTcp <= range.last;
                   };
                   return term.field != Field::IpProto ||
                          std::ranges::any_of(pool_[term.set].numbers, has_tcp);
               });
    }
    // A rule with limits may count requests alone: one that decides on sight is of each packet.
    void warn_of_unanswered(const PlacedRule& placed, const Rule& rule) const {
        if (rule.on_match == OnMatch::Act &&
            std::ranges::any_of(placed.clauses,
                                [&](const Clause& clause) { return has_openings(clause); })) {
            problems_.warning(
                placed.at,
                "this rule decides on packets without a request too, which have no response and "
                "are dropped, a client's SYN among them, so that no client gets as far as a "
                "request; a condition on one, such as `proto.l7 eq \"http\"`, lets the "
                "others through");
        }
    }
    void warn_of_one_way(const PlacedRule& placed, const Action& action, const Stance& stance) {
        const Service* const inbound = first_of(stance, [](const Service& service) {
            return service.path == ServicePath::Inbound &&
                   (service.protocol == ServiceProtocol::Http ||
                    service.protocol == ServiceProtocol::Tls);
        });
        if (inbound != nullptr) {
            problems_.warning(
                placed.at, "over `" + inbound->id + "`, whose `path` is inbound, `" +
                               std::string{name_of(action.verdict)} +
                               "` sends no response but a RST to the client, and what it refuses "
                               "is dropped: no handshake can be proven there");
        }
    }

    const CompiledRules& compiled_;
    const SetPool& pool_;
    Problems& problems_;
};

}  // namespace

void warn_of_units(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                   const SetPool& pool, Problems& problems) {
    UnitWarner warner{compiled, pool, problems};
    for (std::size_t i = 0; i < placed.size(); ++i) {
        if (compiled.rules[placed[i].summary].kind == RuleKind::Rule) {
            warner.warn(placed[i], compiled.set.rules[i]);
        }
    }
}

}  // namespace sluice
