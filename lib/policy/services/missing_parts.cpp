#include "lib/policy/services/missing_parts.hpp"

#include "lib/packet/transport.hpp"
#include "lib/policy/clauses/clause_cover.hpp"
#include "lib/policy/services/protocol_set.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>

namespace sluice {
namespace {

// HTTP/1.0 asks for no Host. Every request has a method and a target, every query a name.
constexpr TextFieldSet kOptional{
    TextField::HttpHost, TextField::HttpQuery, TextField::HttpUserAgent, TextField::HttpReferer,
    TextField::TlsSni,   TextField::TlsAlpn,   TextField::QuicSni};

class MissingPartWarner {
public:
    MissingPartWarner(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                      SetPool& pool, Problems& problems)
        : compiled_{compiled},
          placed_{placed},
          pool_{pool},
          problems_{problems},
          cures_{ClauseCover{pool}, ClauseCover{pool}, ClauseCover{pool},
                 ClauseCover{pool}, ClauseCover{pool}, ClauseCover{pool}} {
        for (std::uint32_t rule = 0; rule < placed_.size(); ++rule) {
            add_terms(placed_[rule]);
            add_cure(rule);
        }
        std::ranges::sort(terms_);
        terms_.erase(std::ranges::unique(terms_).begin(), terms_.end());
    }

    void warn(std::uint32_t index) {
        const Rule& rule = compiled_.set.rules[index];
        const RuleSummary& summary = compiled_.rules[placed_[index].summary];
        const bool is_of_services = summary.stance.kind == Stance::Kind::Service ||
                                    summary.stance.kind == Stance::Kind::Partly;
        if (summary.kind != RuleKind::Rule || rule.mode != Mode::Enforce || !is_of_services) {
            return;
        }
        for (const MissingPart& part : missing_parts(index)) {
            if (!is_cured(index, part.text)) {
                problems_.warning(placed_[index].at, text_of(part, summary));
                return;
            }
        }
    }

private:
    static constexpr std::size_t kPers = static_cast<std::size_t>(Per::Handshake) + 1;
    // Terms looked at, at most: beyond it nothing is said.
    static constexpr std::size_t kMostTerms = 4'000'000;

    struct MissingPart {
        TextField text;
        bool is_value;  // that a limit counts; else of a key
    };

    // A derived text is there where the one that it is made of is.
    [[nodiscard]] TextField source_of(TextField field) const {
        const TextName* derived = find_derived(field, compiled_.set.named_texts);
        return derived == nullptr ? field : derived->source;
    }
    [[nodiscard]] bool is_optional(TextField field) const {
        const TextField source = source_of(field);
        return is_named(source) || kOptional.has(source);
    }

    [[nodiscard]] bool asks_for(const Clause& clause, TextField part) const {
        return std::ranges::any_of(clause.texts, [&](const TextTerm& term) {
            return !term.negated && source_of(pool_.texts()[term.test].field) == source_of(part);
        });
    }
    [[nodiscard]] bool may_lack(std::uint32_t index, const KeyPart& part) const {
        return part.text && is_optional(*part.text) &&
               !std::ranges::all_of(placed_[index].clauses, [&](const Clause& clause) {
                   return asks_for(clause, *part.text);
               });
    }
    // Another limit of the rule lacks nothing, and counts the same: it holds who leaves a part out.
    [[nodiscard]] bool is_held(std::uint32_t index, const MeteredLimit& limit) const {
        const Rule& rule = compiled_.set.rules[index];
        const auto lacks = [&](const KeyPart& part) { return may_lack(index, part); };
        return std::ranges::any_of(rule.limits, [&](const MeteredLimit& other) {
            return other.per == limit.per && std::ranges::none_of(rule.keys[other.key], lacks) &&
                   std::ranges::none_of(other.of, lacks);
        });
    }
    [[nodiscard]] bool is_held_by_tier(std::uint32_t index, std::size_t key) const {
        return std::ranges::all_of(
            compiled_.set.rules[index].limits,
            [&](const MeteredLimit& limit) { return limit.key != key || is_held(index, limit); });
    }
    // Texts that packets of the rule's condition may lack, and no other limit holds them: of its
    // keys, for which it skips them, and fields whose values it counts.
    [[nodiscard]] std::vector<MissingPart> missing_parts(std::uint32_t index) const {
        const Rule& rule = compiled_.set.rules[index];
        std::vector<MissingPart> parts;
        const std::size_t keys = rule.missing_key == MissingKey::Skip ? rule.keys.size() : 0;
        for (std::size_t key = 0; key < keys; ++key) {
            for (const KeyPart& part : rule.keys[key]) {
                if (may_lack(index, part) && !is_held_by_tier(index, key)) {
                    parts.push_back({*part.text, false});
                }
            }
        }
        for (const MeteredLimit& limit : rule.limits) {
            for (const KeyPart& part : limit.of) {
                if (may_lack(index, part) && !is_held(index, limit)) {
                    parts.push_back({*part.text, true});
                }
            }
        }
        return parts;
    }

    void add_terms(const PlacedRule& placed) {
        for (const Clause& clause : placed.clauses) {
            std::ranges::copy_if(
                clause.texts, std::back_inserter(terms_),
                [&](const TextTerm& term) { return term.negated || is_protocol(term); });
        }
    }
    [[nodiscard]] bool is_protocol(const TextTerm& term) const {
        return !term.negated && pool_.texts()[term.test].field == TextField::ProtoL7;
    }
    // Keeps the rule's clauses under each unit that it limits whatever texts it has.
    void add_cure(std::uint32_t index) {
        const Rule& rule = compiled_.set.rules[index];
        const bool refuses = rule.on_match == OnMatch::Act &&
                             !forwards(compiled_.set.actions[rule.match_action].verdict);
        const bool limits = rule.on_match == OnMatch::Meter && missing_parts(index).empty();
        if (rule.mode != Mode::Enforce || rule.candidate || (!refuses && !limits)) {
            return;
        }
        for (std::size_t per = 0; per < kPers; ++per) {
            const bool counts = std::ranges::any_of(rule.limits, [&](const MeteredLimit& limit) {
                return limit.per == static_cast<Per>(per);
            });
            for (const Clause& clause : placed_[index].clauses) {
                if (refuses || counts) {
                    cures_[per].add(clause, index);
                }
            }
        }
    }

    // True if other rules have all packets of this one that lack the text, and count the same.
    bool is_cured(std::uint32_t index, TextField part) {
        const Rule& rule = compiled_.set.rules[index];
        return std::ranges::all_of(placed_[index].clauses, [&](const Clause& clause) {
            if (asks_for(clause, part)) {
                return true;
            }
            const Clause without = lacking(clause, part);
            return std::ranges::all_of(rule.limits, [&](const MeteredLimit& limit) {
                ClauseCover& cures = cures_[static_cast<std::size_t>(limit.per)];
                return cures.first_owner(without, static_cast<std::uint32_t>(placed_.size())) ||
                       cures.is_spent() || terms_seen_ > kMostTerms;
            });
        });
    }
    // The packets of the clause that lack the text: no test of it holds there, and they are of the
    // protocol that has it.
    [[nodiscard]] Clause lacking(const Clause& clause, TextField part) {
        Clause without = over_transport(clause, part);
        for (const TextTerm& term : terms_) {
            const TextField field = pool_.texts()[term.test].field;
            if (term.negated ? source_of(field) == source_of(part) : is_of(term, part)) {
                without.texts.push_back(term);
            }
        }
        terms_seen_ += terms_.size();
        std::ranges::sort(without.texts);
        without.texts.erase(std::ranges::unique(without.texts).begin(), without.texts.end());
        return without;
    }
    [[nodiscard]] Clause over_transport(Clause clause, TextField part) {
        const SetId transport =
            pool_.add(Field::IpProto, transport_of(protocols_of(part, compiled_.set.named_texts)));
        const auto at =
            std::ranges::lower_bound(clause.fields, Field::IpProto, {}, &ClauseTerm::field);
        if (at == clause.fields.end() || at->field != Field::IpProto) {
            clause.fields.insert(at, {Field::IpProto, transport});
        } else {
            at->set = pool_.intersect(at->set, transport);
        }
        return clause;
    }
    static DomainSet transport_of(ProtocolSet protocols) {
        DomainSet set;
        if (protocols.has(ServiceProtocol::Http) || protocols.has(ServiceProtocol::Tls)) {
            set.numbers.push_back({kProtoTcp, kProtoTcp});
        }
        if (protocols.has(ServiceProtocol::Quic)) {
            set.numbers.push_back({kProtoUdp, kProtoUdp});
        }
        return set;
    }
    [[nodiscard]] bool is_of(const TextTerm& protocol, TextField part) const {
        const TextNames& names = compiled_.set.named_texts;
        const ProtocolSet having = protocols_of(part, names);
        const Clause named{.fields = {}, .texts = {protocol}};
        return protocols_of(named, pool_, having, names) == having;
    }

    [[nodiscard]] std::string text_of(const MissingPart& part, const RuleSummary& rule) const {
        return "this rule can be walked around over `" + rule.stance.services.front() +
               "`: a client that leaves out `" + name_of(part.text, compiled_.set.named_texts) +
               (part.is_value
                    ? "`, the field whose values it counts, meets no limit of it"
                    : "`, a part of its key, meets no limit of it (`missing_key: skip`)") +
               "; add a rule for those without it, over `" +
               condition_without(source_of(part.text)) +
               (part.is_value ? "`" : "`, or say `missing_key: share`");
    }
    // Handshakes are of two protocols, and a server name is never empty.
    [[nodiscard]] std::string condition_without(TextField field) const {
        const std::string name = name_of(field, compiled_.set.named_texts);
        switch (field) {
            case TextField::TlsSni:
                return "proto.l7 eq \"tls\" and not " + name + " contains \".\"";
            case TextField::QuicSni:
                return "proto.l7 eq \"quic\" and not " + name + " contains \".\"";
            default:
                return "not (" + name + " ne \"\")";
        }
    }

    const CompiledRules& compiled_;
    const std::vector<PlacedRule>& placed_;
    SetPool& pool_;
    Problems& problems_;
    std::vector<TextTerm> terms_;  // of all conditions, each once: negated, or of proto.l7
    std::size_t terms_seen_ = 0;
    std::array<ClauseCover, kPers> cures_;
};

}  // namespace

void warn_of_missing_parts(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                           SetPool& pool, Problems& problems) {
    MissingPartWarner warner{compiled, placed, pool, problems};
    for (std::uint32_t rule = 0; rule < placed.size(); ++rule) {
        warner.warn(rule);
    }
}

}  // namespace sluice
