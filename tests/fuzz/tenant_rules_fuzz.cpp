#include "lib/packet/ip_address.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/problems/problem.hpp"
#include "lib/rules/rule_set.hpp"
#include "lib/rules/tenant_name.hpp"
#include "lib/rules/tenant_options.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

// The rule file of a tenant beside one of the operator's. Whatever it says, the operator's rule is
// as it was, each of the others is the tenant's and confined to it, together they take no more of
// the table than it has, and a dataplane takes the set.
static constexpr std::string_view kOperators =
    "version: 1\nrules: [{id: own, when: l4.dport eq 7, on_match: drop}]\n";

static void expect(bool holds) {
    if (!holds) {
        std::abort();
    }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    static const TenantOptions tenant{
        .name = "acme", .networks = {*parse_prefix("198.51.100.0/24")}, .table_share = 10};
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const std::array parts{
        RuleFilePart{.file = "rules.yaml", .text = kOperators, .folder = "/"},
        RuleFilePart{.file = "acme.yaml", .text = text, .folder = "", .tenant = &tenant}};
    Problems problems{"rules.yaml"};
    const std::optional<CompiledRules> compiled = compile_rules(
        {.file = "rules.yaml", .text = {}, .parts = parts}, Purpose::Enforce, {}, problems);
    expect(compiled.has_value() != problems.has_errors());
    for (const Problem& problem : problems.list()) {
        expect(problem.file == "acme.yaml" || problem.at.line == 0);
    }
    if (!compiled) {
        return 0;
    }
    expect(!compiled->rules.empty() && compiled->rules[0].id == "own");
    expect(compiled->services.empty() && compiled->lists.empty() && compiled->databases.empty());
    expect(compiled->set.named_texts.empty());
    for (std::size_t i = 1; i < compiled->rules.size(); ++i) {
        const RuleSummary& rule = compiled->rules[i];
        expect(tenant_of(rule.id) == tenant.name && rule.id.size() <= kMaxRuleIdSize);
        expect(!rule.bans_sources && rule.kind != RuleKind::Bypass);
        expect(rule.when.starts_with("dir eq \"in\" and ip.dst in {198.51.100.0/24}"));
    }
    std::uint64_t share = 0;
    for (const Rule& rule : compiled->set.rules) {
        share += tenant_of(rule.id).empty() || !rule.has_limits() ? 0 : rule.table_share;
    }
    expect(share <= kWholeTable / 100 * tenant.table_share);
    expect(!find_fault(compiled->set));
    return 0;
}
