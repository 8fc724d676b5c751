#include "control/daemon/api/named_in.hpp"

#include "control/daemon/api/find_everybody.hpp"
#include "control/daemon/api/finding.hpp"
#include "lib/policy/expression/reads_list.hpp"
#include "lib/policy/expression/token.hpp"
#include "lib/policy/lists/list_text.hpp"
#include "lib/policy/texts/letter_case.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <vector>

namespace sluice {
namespace {

// A set's share of what is sought: nothing, some or all of it.
Truth share_of(std::span<const AddressRange> ranges, const Sought& sought) {
    const IpAddress& first = sought.first;
    const IpAddress& last = sought.last;
    const auto at = std::ranges::partition_point(
        ranges, [&](const AddressRange& range) { return range.last < first; });
    if (at == ranges.end() || last < at->first) {
        return Truth::No;
    }
    return at->first <= first && last <= at->last ? Truth::Yes : Truth::Maybe;
}

Truth negation_of(Truth truth) {
    return truth == Truth::Maybe ? truth : truth == Truth::Yes ? Truth::No : Truth::Yes;
}

// The addresses that the comparison names, whether or not it is negated.
Truth named_by(const Leaf& leaf, const Sought& sought) {
    if (row_of(leaf.field).kind != FieldKind::Address || !sought.has_network()) {
        return Truth::No;
    }
    return share_of(sought.network.version == IpVersion::V4 ? leaf.v4 : leaf.v6, sought);
}

bool holds(TextHow how, bool ignore_case, std::string_view named, std::string_view text) {
    const std::string folded = ignore_case ? lowered(named) : "";
    const std::string_view one = ignore_case ? std::string_view{folded} : named;
    switch (how) {
        case TextHow::Equals:
            return text == one;
        case TextHow::StartsWith:
            return text.starts_with(one);
        case TextHow::EndsWith:
            return text.ends_with(one);
        case TextHow::Contains:
            return text.find(one) != std::string_view::npos;
        default:
            return false;
    }
}

std::string folded_for(const TextTest& test, const Sought& sought) {
    return test.ignore_case ? lowered(sought.text) : sought.text;
}

// A comparison of a packet's addresses or of their version, by the version of one of them, which
// all of them have; Maybe: it compares something else, or this leaves it open.
Truth by_version(const Leaf& leaf, std::string_view field, const Sought& sought) {
    const auto is_of_packet = [](std::string_view name) {
        return name == "ip.src" || name == "ip.dst";
    };
    if (!is_of_packet(field) || leaf.from_list || !sought.has_network()) {
        return Truth::Maybe;
    }
    const IpVersion version = sought.network.version;
    if (leaf.field == Field::IpVersion) {
        const bool holds = std::ranges::any_of(leaf.numbers, [version](const NumberRange& range) {
            const auto number = static_cast<std::uint64_t>(version);
            return range.first <= number && number <= range.last;
        });
        return holds != leaf.negated ? Truth::Yes : Truth::No;
    }
    const bool has_none = version == IpVersion::V4 ? leaf.v4.empty() : leaf.v6.empty();
    return is_of_packet(row_of(leaf.field).name) && !leaf.negated && has_none ? Truth::No
                                                                              : Truth::Maybe;
}

bool is_name(std::string_view field) {
    return std::ranges::any_of(kTextFields, [field](const TextFieldRow& row) {
        return row.kind == TextKind::Folded && row.name == field;
    });
}

// A comparison of another field of names than the one that has the host: each is of a protocol of
// its own, so that the packet lacks it. Maybe: it is no field of names, or negated.
Truth by_another_name(const TextTest& test, std::string_view field, const Sought& sought) {
    const bool lacks = sought.kind == Sought::Kind::Host && !test.negated && is_name(field) &&
                       row_of(test.field).kind == TextKind::Folded;
    return lacks ? Truth::No : Truth::Maybe;
}

// Regular expressions are not tried.
Truth named_by(const TextTest& test, const Sought& sought) {
    const std::string text = folded_for(test, sought);
    const bool any = std::ranges::any_of(test.texts, [&](const std::string& one) {
        return holds(test.how, test.ignore_case, one, text);
    });
    return any ? Truth::Yes : test.how == TextHow::Matches ? Truth::Maybe : Truth::No;
}

// True if texts of this field can be what is sought: a host or an address among names, a key as the
// whole of any text.
bool may_name(const TextTest& test, const Sought& sought) {
    return sought.kind == Sought::Kind::Key ? test.how == TextHow::Equals
                                            : row_of(test.field).kind == TextKind::Folded;
}

Truth truth_of_parts(const Expression& condition, std::string_view field, const Sought& sought,
                     ListsSay lists) {
    const bool is_and = condition.kind == Expression::Kind::And;
    Truth all = is_and ? Truth::Yes : Truth::No;
    for (const Expression& part : condition.parts) {
        const Truth one = truth_of(part, field, sought, lists);
        all = is_and ? std::min(all, one) : std::max(all, one);
    }
    return all;
}

// The lists that a condition names, in the order of its comparisons.
std::vector<std::string> lists_in(const std::string& when) {
    std::vector<std::string> names;
    for (const Token& token : split_into_tokens(when)) {
        if (token.kind == Token::Kind::List) {
            names.push_back(token.text);
        }
    }
    return names;
}

// The comparisons of a condition that name what is sought, collected.
class Namings {
public:
    Namings(const RuleSummary& rule, const Sought& sought, ListedEntries& entries)
        : sought_{sought}, entries_{entries}, lists_{lists_in(rule.when)} {}

    void add(const Expression& condition, bool except) {
        switch (condition.kind) {
            case Expression::Kind::Leaf:
                add_leaf(condition.leaf, except);
                return;
            case Expression::Kind::Text:
                add_text(condition.text, except);
                return;
            case Expression::Kind::Not:
                add(condition.parts.front(), !except);
                return;
            default:
                for (const Expression& part : condition.parts) {
                    add(part, except);
                }
        }
    }
    [[nodiscard]] Json json() && { return std::move(json_); }

private:
    void add_leaf(const Leaf& leaf, bool except) {
        const bool may_be = row_of(leaf.field).kind == FieldKind::Address && sought_.has_network();
        Json entry;
        if (leaf.from_list) {
            entry = next_entry({.type = ListType::Cidr}, may_be, [&](const ListValues& one) {
                const bool v4 = sought_.network.version == IpVersion::V4;
                return share_of(v4 ? one.v4 : one.v6, sought_) != Truth::No;
            });
        }
        if (leaf.from_list ? !entry.is_null() : named_by(leaf, sought_) != Truth::No) {
            add(std::string{row_of(leaf.field).name}, except != leaf.negated, std::move(entry));
        }
    }
    void add_text(const TextTest& test, bool except) {
        const bool may_be = may_name(test, sought_);
        Json entry;
        if (test.from_list) {
            const std::string text = folded_for(test, sought_);
            entry = next_entry(
                {ListType::String, test.how, test.ignore_case}, may_be, [&](const ListValues& one) {
                    return !one.texts.empty() &&
                           holds(test.how, test.ignore_case, one.texts.front(), text);
                });
        }
        if (test.from_list ? !entry.is_null() : may_be && named_by(test, sought_) == Truth::Yes) {
            add(test.name, except != test.negated, std::move(entry));
        }
    }
    // The entry of the next list of the condition that names what is sought; null: none does.
    Json next_entry(const ListedEntries::Comparison& how, bool may_be,
                    const std::function<bool(const ListValues&)>& holds) {
        const std::string name = at_ < lists_.size() ? lists_[at_++] : "";
        if (!may_be) {
            return {};
        }
        return entries_.find(name, how, holds);
    }
    void add(std::string field, bool except, Json entry) {
        Json one{{"field", std::move(field)}, {"except", except}};
        for (const char* member : {"list", "entry", "line", "others"}) {
            one[member] = entry.is_null() ? Json() : entry.at(member);
        }
        json_.push_back(std::move(one));
    }

    const Sought& sought_;
    ListedEntries& entries_;
    std::vector<std::string> lists_;
    std::size_t at_ = 0;
    Json json_ = Json::array();
};

// True if a comparison of the condition is of this field.
bool names_field(const Expression& condition, std::string_view field) {
    return condition.kind == Expression::Kind::Leaf
               ? row_of(condition.leaf.field).name == field
               : std::ranges::any_of(condition.parts, [field](const Expression& part) {
                     return names_field(part, field);
                 });
}

// True if a key of the rule is what is sought, or has it as a part.
bool has_own_keys(const RuleSummary& rule, const Sought& sought) {
    return std::ranges::any_of(rule.keys, [&](const GroupingKey& key) {
        const bool is_lone = key.size() == 1;
        return leaves_open(key, sought) ||
               (is_lone && key.front().is_address() && sought.has_network()) ||
               (is_lone && key.front().text && sought.kind == Sought::Kind::Host &&
                row_of(*key.front().text).kind == TextKind::Folded);
    });
}

}  // namespace

Truth truth_of(const Expression& condition, std::string_view field, const Sought& sought,
               ListsSay lists) {
    const bool is_not_named = lists == ListsSay::NotNamed;
    switch (condition.kind) {
        case Expression::Kind::Leaf: {
            const Leaf& leaf = condition.leaf;
            if (row_of(leaf.field).name != field || (leaf.from_list && !is_not_named)) {
                return by_version(leaf, field, sought);
            }
            const Truth truth = leaf.from_list ? Truth::No : named_by(leaf, sought);
            return leaf.negated ? negation_of(truth) : truth;
        }
        case Expression::Kind::Text: {
            if (condition.text.name != field) {
                return by_another_name(condition.text, field, sought);
            }
            const bool is_listed = condition.text.from_list;
            if (is_listed && (!is_not_named || condition.text.how == TextHow::Matches)) {
                return Truth::Maybe;
            }
            const Truth truth = is_listed ? Truth::No : named_by(condition.text, sought);
            return condition.text.negated ? negation_of(truth) : truth;
        }
        case Expression::Kind::Not:
            return negation_of(truth_of(condition.parts.front(), field, sought, lists));
        default:
            return truth_of_parts(condition, field, sought, lists);
    }
}

bool may_match(const RuleSummary& rule, const Sought& sought, ListsSay lists) {
    if (rule.when.empty() || sought.kind == Sought::Kind::Key) {
        return true;
    }
    const auto may_as = [&](std::string_view field) {
        return truth_of(rule.condition, field, sought, lists) != Truth::No;
    };
    return sought.has_network()
               ? std::ranges::any_of(
                     kFields,
                     [&](const FieldRow& row) {
                         const bool is_of_packet =
                             row.field == Field::IpSrc || row.field == Field::IpDst;
                         return row.kind == FieldKind::Address &&
                                (is_of_packet || names_field(rule.condition, row.name)) &&
                                may_as(row.name);
                     })
               : std::ranges::any_of(kTextFields, [&](const TextFieldRow& row) {
                     return row.kind == TextKind::Folded && may_as(row.name);
                 });
}

std::string_view side_met(const RuleSummary& rule, const Sought& sought, ListsSay lists) {
    if (rule.when.empty() || !sought.has_network()) {
        return {};
    }
    const bool as_source = truth_of(rule.condition, "ip.src", sought, lists) != Truth::No;
    const bool as_target = truth_of(rule.condition, "ip.dst", sought, lists) != Truth::No;
    return as_source == as_target ? "" : as_source ? "ip.src" : "ip.dst";
}

Json named_in(const RuleSummary& rule, const Sought& sought, ListedEntries& lists) {
    Namings namings{rule, sought, lists};
    if (!rule.when.empty()) {
        namings.add(rule.condition, false);
    }
    return std::move(namings).json();
}

bool add_everybody(Json& answer, const std::vector<RuleSummary>& rules, const Sought& sought,
                   const KnownOfConditions& known) {
    constexpr std::chrono::seconds kMostTimeOfAll{1};
    answer["everybody"] = Json::array();
    answer["everybody_as"] = Json::object();
    answer["unread"] = Json::array();
    if (sought.kind == Sought::Kind::Key) {
        return false;
    }
    const ListsSay lists = known.lists_read ? ListsSay::NotNamed : ListsSay::Unknown;
    const auto meets = [&](const RuleSummary& rule) {
        const bool may_be = !has_own_keys(rule, sought) && rule.mode != Mode::Off &&
                            may_match(rule, sought, lists) && known.named(rule).empty();
        const bool is_unread = may_be && !known.lists_read && reads_list(rule.condition);
        const std::string_view side =
            may_be && !is_unread ? side_met(rule, sought, lists) : std::string_view{};
        if (is_unread) {
            answer["unread"].push_back(rule.id);
        }
        if (!side.empty()) {
            answer["everybody_as"][rule.id] = side;
        }
        return may_be && !is_unread;
    };
    const auto begun = std::chrono::steady_clock::now();
    MetRules met = met_rules(
        rules, meets, [&] { return std::chrono::steady_clock::now() - begun > kMostTimeOfAll; });
    answer["everybody"] = std::move(met.ids);
    return met.cut;
}

Json services_named(const std::vector<ServiceSummary>& services, const Sought& sought,
                    ListedEntries& lists) {
    Json named = Json::array();
    for (const ServiceSummary& service : services) {
        RuleSummary as_rule;
        as_rule.when = service.when;
        as_rule.condition = service.condition;
        for (Json& naming : named_in(as_rule, sought, lists)) {
            naming["service"] = service.id;
            naming["mode"] = kModeNames[static_cast<std::size_t>(service.mode)];
            named.push_back(std::move(naming));
        }
    }
    return named;
}

}  // namespace sluice
