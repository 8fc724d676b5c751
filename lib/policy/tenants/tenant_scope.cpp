#include "lib/policy/tenants/tenant_scope.hpp"

#include "lib/packet/field.hpp"
#include "lib/policy/keys/client_ip_reader.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

namespace sluice {
namespace {

constexpr std::uint32_t kPercentOfTable = kWholeTable / 100;
// A condition with more of them is shown with the tenant's name in their place.
constexpr std::size_t kMostShownNetworks = 16;

std::string condition_over(const TenantOptions& tenant) {
    std::string text = R"(dir eq "in" and ip.dst in {)";
    for (std::size_t i = 0; i < tenant.networks.size(); ++i) {
        const IpPrefix& network = tenant.networks[i];
        text += (i == 0 ? "" : " ") + to_text(network.version, network.address) + "/" +
                std::to_string(network.length);
    }
    return text + "}";
}

// The part of a percentage that a rule says of itself; nullopt: it says none that can be read.
std::optional<unsigned> share_said(const YamlNode& rule) {
    const YamlNode* share = value_of(rule, "table_share");
    if (share == nullptr || !share->text.ends_with('%')) {
        return std::nullopt;
    }
    const std::string digits = share->text.substr(0, share->text.size() - 1);
    const Result<std::uint64_t> percent = parse_number(digits, 100);
    return percent ? std::optional{static_cast<unsigned>(*percent)} : std::nullopt;
}

std::size_t buckets_of(const YamlNode& rule) {
    const YamlNode* candidates = value_of(rule, "candidates");
    return 1 + (candidates == nullptr ? 0 : candidates->items.size());
}

// The part of the table that each rule which says none may hold.
std::uint32_t spare_share(const YamlNode& root, const TenantOptions& tenant, Problems& problems) {
    const YamlNode* rules = value_of(root, "rules");
    std::uint64_t said = 0;
    std::size_t silent = 0;
    for (std::size_t i = 0; rules != nullptr && i < rules->items.size(); ++i) {
        const YamlNode& rule = rules->items[i];
        if (!rule.is_map() || value_of(rule, "on_match") != nullptr) {
            continue;
        }
        if (const std::optional<unsigned> share = share_said(rule)) {
            said += *share * buckets_of(rule);
        } else {
            silent += buckets_of(rule);
        }
    }
    const std::string has = "the tenant " + tenant.name + " has " +
                            std::to_string(tenant.table_share) + "% of the table, and its rules ";
    if (said > tenant.table_share) {
        problems.error(rules->at, has + "take " + std::to_string(said) +
                                      "% by their `table_share`, with those of their candidates");
        return 1;
    }
    const std::uint64_t spare = (tenant.table_share - said) * kPercentOfTable;
    if (silent > spare) {
        problems.error(rules->at, has +
                                      "take all of it by their `table_share`: none is left for "
                                      "those that say none");
        return 1;
    }
    return silent == 0 ? kWholeTable : static_cast<std::uint32_t>(spare / silent);
}

// A tenant without networks has no rules: there is nothing that they could be confined to.
Expression tree_of(const std::string& when, const TenantTree& tree, Problems& problems) {
    auto parsed = parse_expression(when);
    if (auto* whole = std::get_if<ParsedExpression>(&parsed)) {
        return std::move(whole->tree);
    }
    problems.error(tree.root.at, "the tenant " + tree.tenant->name + " has no networks");
    return {};
}

bool has_pattern(const Expression& condition) {
    return (condition.kind == Expression::Kind::Text && condition.text.how == TextHow::Matches) ||
           std::ranges::any_of(condition.parts, has_pattern);
}

}  // namespace

TenantScope scope_of(const TenantTree& tree, Problems& problems) {
    const TenantOptions& tenant = *tree.tenant;
    const std::string when = condition_over(tenant);
    return {.tenant = &tenant,
            .when = tenant.networks.size() > kMostShownNetworks
                        ? R"(dir eq "in" and ip.dst in $)" + tenant.name
                        : when,
            .condition = tree_of(when, tree, problems),
            .table_share = spare_share(tree.root, tenant, problems)};
}

void confine(const TenantScope& scope, Expression& condition, std::string& when) {
    Expression both{.kind = Expression::Kind::And, .leaf = {}, .parts = {}, .text = {}};
    both.parts.push_back(scope.condition);
    both.parts.push_back(std::move(condition));
    condition = std::move(both);
    when = scope.when + " and (" + when + ")";
}

void refuse_operators_data(const ParsedExpression& condition, const ScalarPlaces& places,
                           Problems& problems) {
    for (const FieldUse& use : condition.from_databases) {
        problems.error(places[use.offset],
                       std::string{row_of(use.field).name} +
                           " is not for tenants: it reads the databases of the box");
    }
    for (const std::size_t offset : condition.clients) {
        problems.error(places[offset], "client.ip is not for tenants: the operator says who it is");
    }
    if (has_pattern(condition.tree)) {
        problems.error(places[0],
                       "`matches` is not for tenants: a pattern costs all that the box reads; "
                       "`eq`, `starts_with`, `ends_with`, `contains` and `in` are");
    }
}

void refuse_operators_keys(const Rule& rule, Position at, Problems& problems) {
    const std::vector<GroupingKey> keys = read_keys(rule);
    const bool reads_databases = std::ranges::any_of(keys, [](const GroupingKey& key) {
        return std::ranges::any_of(
            key, [](const KeyPart& part) { return !part.text && is_from_database(part.field); });
    });
    if (reads_databases || asks_for_client(false, keys)) {
        problems.error(at,
                       "a key of a tenant's rule has no client.ip, country or ASN: the "
                       "operator says what these are");
    }
}

}  // namespace sluice
