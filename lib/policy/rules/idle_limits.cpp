#include "lib/policy/rules/idle_limits.hpp"

#include "lib/bucket/meter/distinct_limit.hpp"
#include "lib/policy/clauses/possible_packets.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace sluice {
namespace {

// A field that a limit reads, with the values of it that are there to be counted.
struct ReadField {
    Field field{};
    DomainSet values;
};

DomainSet all_values(Field field) {
    DomainSet values = everything(field);
    values.absent = false;
    return values;
}

void add_parts(const GroupingKey& parts, std::vector<ReadField>& read) {
    for (const KeyPart& part : parts) {
        // The address of a client is read from a header too.
        if (!part.text && part.field != Field::ClientIp) {
            read.push_back({part.field, all_values(part.field)});
        }
    }
}

std::vector<ReadField> fields_read_by(const MeteredLimit& limit, const Rule& rule) {
    std::vector<ReadField> read;
    add_parts(limit.of, read);
    if (rule.missing_key == MissingKey::Skip) {
        add_parts(rule.keys[limit.key], read);
    }
    if (limit.per == Per::Connection) {
        read.push_back({Field::TcpSyn, {.numbers = {{1, 1}}}});
        read.push_back({Field::TcpAck, {.numbers = {{0, 0}}}});
    }
    return read;
}

// The packets of a clause that have these fields; nullopt: there are none.
std::optional<Clause> narrowed(const Clause& clause, const std::vector<ReadField>& read,
                               SetPool& pool) {
    Clause all = clause;
    for (const ReadField& one : read) {
        SetId set = pool.add(one.field, one.values);
        const auto term = std::ranges::lower_bound(all.fields, one.field, {}, &ClauseTerm::field);
        if (term == all.fields.end() || term->field != one.field) {
            all.fields.insert(term, {one.field, set});
            continue;
        }
        set = pool.intersect(term->set, set);
        if (pool[set].empty()) {
            return std::nullopt;
        }
        term->set = set;
    }
    return all;
}

// True if a value of one part has a single value of the other beside it.
bool tells(const KeyPart& known, const KeyPart& part) {
    if (known == part) {
        return true;
    }
    const bool is_client = known.field == Field::IpSrc && part.field == Field::ClientIp &&
                           known.v4_length == 32 && known.v6_length == 128;
    return known.is_address() && part.is_address() &&
           (is_client || (part.field == known.field && known.unwrapping == part.unwrapping)) &&
           part.v4_length <= known.v4_length && part.v6_length <= known.v6_length;
}

bool is_in_key(const GroupingKey& of, const GroupingKey& key) {
    return std::ranges::all_of(of, [&](const KeyPart& part) {
        return std::ranges::any_of(key, [&](const KeyPart& known) { return tells(known, part); });
    });
}

// The most values that a field has in packets of these clauses; nullopt: more than are counted.
std::optional<Wide> values_of(Field field, const std::vector<Clause>& clauses,
                              const SetPool& pool) {
    Wide values = 0;
    for (const Clause& clause : clauses) {
        const auto term = std::ranges::find(clause.fields, field, &ClauseTerm::field);
        if (term == clause.fields.end() || !pool[term->set].v6.empty()) {
            return std::nullopt;
        }
        for (const WideRange& range : pool[term->set].numbers) {
            values += range.last - range.first + 1;
        }
    }
    return values;
}

class IdleLimits {
public:
    IdleLimits(const CompiledRules& compiled, SetPool& pool, Problems& problems)
        : compiled_{compiled}, pool_{pool}, problems_{problems} {}

    void warn(const PlacedRule& placed, const Rule& rule) {
        for (const MeteredLimit& limit : rule.limits) {
            const std::optional<std::string> why = fault_of(placed, rule, limit);
            if (why) {
                problems_.warning(placed.at, "its limit " + limit.name + " " + *why);
            }
        }
    }

private:
    [[nodiscard]] std::optional<std::string> fault_of(const PlacedRule& placed, const Rule& rule,
                                                      const MeteredLimit& limit) {
        const std::vector<ReadField> read = fields_read_by(limit, rule);
        std::vector<Clause> possible;
        for (const Clause& clause : placed.clauses) {
            if (std::optional<Clause> one = narrowed(clause, read, pool_)) {
                possible.push_back(*std::move(one));
            }
        }
        if (possible.empty()) {
            return "can never count anything: the condition asks for packets that are not what it "
                   "counts";
        }
        if (const auto why = find_contradiction(possible, pool_, compiled_.set.named_texts)) {
            return "can never count anything: " + *why;
        }
        return fault_of_values(limit, rule, possible);
    }
    [[nodiscard]] std::optional<std::string> fault_of_values(
        const MeteredLimit& limit, const Rule& rule, const std::vector<Clause>& possible) const {
        const auto* const distinct = std::get_if<DistinctLimit>(&limit.limit);
        if (distinct == nullptr) {
            return std::nullopt;
        }
        if (is_in_key(limit.of, rule.keys[limit.key])) {
            return "can never refuse anything: `of` names what stands in the key, so each key has "
                   "one value of it";
        }
        const bool is_one = limit.of.size() == 1 && !limit.of[0].text;
        const std::optional<Wide> values =
            is_one ? values_of(limit.of[0].field, possible, pool_) : std::nullopt;
        if (values && *values <= distinct->numbers.count) {
            return "can never refuse anything: the condition lets no more than " +
                   std::to_string(static_cast<std::uint64_t>(*values)) +
                   (*values == 1 ? " value" : " values") + " of `of` through";
        }
        return std::nullopt;
    }

    const CompiledRules& compiled_;
    SetPool& pool_;
    Problems& problems_;
};

}  // namespace

void warn_of_idle_limits(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                         SetPool& pool, Problems& problems) {
    IdleLimits idle{compiled, pool, problems};
    for (std::size_t i = 0; i < placed.size(); ++i) {
        const Rule& rule = compiled.set.rules[i];
        if (!placed[i].clauses.empty() && !rule.candidate) {
            idle.warn(placed[i], rule);
        }
    }
}

}  // namespace sluice
