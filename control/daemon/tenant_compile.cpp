#include "control/daemon/tenant_compile.hpp"

#include "control/daemon/rule_compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view kNoRulesOfOperator = "version: 1\nrules: []\n";

// Requests a stop once the time is over, or the whole process stops compiling.
class CompileTime {
public:
    explicit CompileTime(Nanoseconds time)
        : time_{time}, waiter_{[this](const std::stop_token& done) { wait(done); }} {}
    ~CompileTime() { waiter_.request_stop(); }
    CompileTime(const CompileTime&) = delete;
    CompileTime& operator=(const CompileTime&) = delete;

    [[nodiscard]] std::stop_token token() const noexcept { return over_.get_token(); }

private:
    void wait(const std::stop_token& done) {
        std::mutex mutex;
        std::unique_lock lock{mutex};
        std::condition_variable_any changed;
        (void)changed.wait_for(lock, done, time_, [] { return false; });
        if (!done.stop_requested()) {
            over_.request_stop();
        }
    }

    Nanoseconds time_;
    std::stop_source over_;
    std::stop_callback<std::function<void()>> with_all_{compile_stop().get_token(),
                                                        [this] { over_.request_stop(); }};
    std::jthread waiter_;
};

// Times the tenant's own for rules that were taken before: they stay, also where the machine is
// busy.
constexpr int kTimesAsLong = 10;

LoneTenant refused_alone(const std::string& file, std::string why) {
    return {
        .is_sound = false, .problems = {{file, {}, Severity::Error, std::move(why)}}, .rules = {}};
}

// The outcome of each tenant's text when it was compiled last: a change of the operator's compiles
// those anew that have changed.
struct KnownTenant {
    std::string text;
    std::string fault;  // empty: it was sound
};
struct KnownTenants {
    std::mutex mutex;
    std::map<std::string, KnownTenant> by_name;
};
KnownTenants& known_tenants() {
    static KnownTenants known;
    return known;
}

std::string first_error_of(const std::vector<Problem>& problems) {
    const auto error = std::ranges::find(problems, Severity::Error, &Problem::severity);
    if (error == problems.end()) {
        return "they do not compile";
    }
    return error->at.line == 0 ? error->message
                               : fmt::format("line {}: {}", error->at.line, error->message);
}

// Empty: it is sound.
std::string fault_of(const TenantOptions& tenant, const std::string& text, const RssMapping& box) {
    KnownTenants& known = known_tenants();
    {
        const std::lock_guard lock{known.mutex};
        const auto found = known.by_name.find(tenant.name);
        if (found != known.by_name.end() && found->second.text == text) {
            return found->second.fault;
        }
    }
    const LoneTenant alone =
        compile_alone(tenant, {.text = text, .time = kTimesAsLong * tenant.compile_time}, box);
    std::string fault = alone.is_sound ? "" : first_error_of(alone.problems);
    if (alone.is_final) {
        const std::lock_guard lock{known.mutex};
        known.by_name[tenant.name] = {text, fault};
    }
    return fault;
}

}  // namespace

std::vector<TenantOptions>& tenant_options() {
    static std::vector<TenantOptions> tenants;
    return tenants;
}

const TenantOptions* find_tenant(const std::string& name) {
    const std::vector<TenantOptions>& all = tenant_options();
    const auto found = std::ranges::find(all, name, &TenantOptions::name);
    return found == all.end() ? nullptr : &*found;
}

LoneTenant compile_alone(const TenantOptions& tenant, const LoneText& lone, const RssMapping& box) {
    const auto& [text, file, most] = lone;
    if (text.size() > tenant.text) {
        return refused_alone(file, fmt::format("the rules of the tenant {} are {} bytes, and may "
                                               "be {}",
                                               tenant.name, text.size(), tenant.text));
    }
    const CompileTime time{most};
    Problems problems{file, time.token()};
    const std::array<RuleFilePart, 2> parts{
        RuleFilePart{.file = "", .text = kNoRulesOfOperator, .folder = ""},
        RuleFilePart{.file = file, .text = text, .folder = "", .tenant = &tenant}};
    std::optional<CompiledRules> compiled = compile_rules(
        {.file = file, .text = "", .patterns = &pattern_cache(), .box = &box, .parts = parts},
        Purpose::Enforce, {}, problems);
    if (time.token().stop_requested()) {
        LoneTenant late = refused_alone(
            file, compile_stop().stop_requested()
                      ? "sluiced is stopping"
                      : fmt::format("to compile them takes longer than the tenant {} has for it, "
                                    "{} ms",
                                    tenant.name, most.count() / 1'000'000));
        late.is_final = false;
        return late;
    }
    return {.is_sound = compiled.has_value(),
            .problems = problems.list(),
            .rules = compiled ? std::move(compiled->rules) : std::vector<RuleSummary>{}};
}

TenantsAside unfit_tenants(const TenantTexts& tenants, const RssMapping& box) {
    TenantsAside aside;
    for (const auto& [name, rules] : tenants) {
        if (rules.text.empty()) {
            continue;
        }
        const TenantOptions* tenant = find_tenant(name);
        std::string fault = tenant == nullptr ? "sluice.yaml has no such tenant"
                                              : fault_of(*tenant, rules.text, box);
        if (!fault.empty()) {
            aside.emplace(name, std::move(fault));
        }
    }
    return aside;
}

std::vector<RuleFilePart> joint_parts(const StoredRules& rules, const TenantsAside& aside) {
    std::vector<RuleFilePart> parts = parts_of(rules);
    std::vector<RuleFilePart> of_tenants;
    for (const auto& [name, own] : rules.tenants) {
        const TenantOptions* tenant = find_tenant(name);
        if (tenant != nullptr && !own.text.empty() && !aside.contains(name)) {
            of_tenants.push_back(
                {.file = tenant->name, .text = own.text, .folder = "", .tenant = tenant});
        }
    }
    if (!of_tenants.empty() && parts.empty()) {
        parts.push_back({.file = rules.file, .text = rules.text, .folder = rules.directory});
    }
    parts.insert(parts.end(), of_tenants.begin(), of_tenants.end());
    return parts;
}

}  // namespace sluice
