#include "control/confirm_time.hpp"
#include "control/daemon/api/change.hpp"
#include "control/daemon/api/cluster.hpp"
#include "control/daemon/api/tenant_view.hpp"
#include "control/daemon/boot_time.hpp"
#include "control/daemon/keeper/tenant_changes.hpp"
#include "control/daemon/rule_diff.hpp"
#include "control/daemon/tenant_compile.hpp"
#include "lib/rules/tenant_name.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {
namespace {

// The tenant that a path names: what stands between /v1/tenants/ and `after`.
std::string tenant_in(const HttpRequest& request, std::string_view after) {
    constexpr std::string_view kBefore = "/v1/tenants/";
    return request.path.substr(kBefore.size(), request.path.size() - kBefore.size() - after.size());
}

Json trial_json(const std::optional<TrialEnd>& end) {
    if (!end) {
        return nullptr;
    }
    const std::chrono::duration<double> left = left_until(end->at, boot_time());
    return {{"seconds_left", std::round(left.count() * 10) / 10}, {"until", utc_text(end->utc)}};
}

Json networks_json(const TenantOptions& tenant) {
    Json networks = Json::array();
    for (const IpPrefix& network : tenant.networks) {
        networks.push_back(to_text(network.version, network.address) + "/" +
                           std::to_string(network.length));
    }
    return networks;
}

// The rules of a tenant as they are kept; without any, as if they were empty.
TenantRules kept_rules(const RuleView& view, const std::string& tenant) {
    const auto found = view.tenants.find(tenant);
    return found == view.tenants.end() ? TenantRules{} : found->second;
}

Json state_json(const RuleView& view, const TenantOptions& tenant) {
    const TenantRules own = kept_rules(view, tenant.name);
    const auto aside = view.aside.find(tenant.name);
    return {{"name", tenant.name},
            {"networks", networks_json(tenant)},
            {"table_share", fmt::format("{}%", tenant.table_share)},
            {"most_rules", tenant.rules},
            {"most_bytes", tenant.text},
            {"compile_ms", tenant.compile_time.count() / 1'000'000},
            {"rules", rules_of_tenant(view, tenant.name)},
            {"bytes", own.text.size()},
            {"changed_at", own.changed_at == 0 ? Json() : Json(utc_text(own.changed_at))},
            {"problem", aside == view.aside.end() ? Json() : Json(aside->second)},
            {"unconfirmed", trial_json(own.end)}};
}

// The tag that If-Match names; nullopt: any.
Result<std::optional<std::string>> tag_named_by(std::string_view text) {
    if (text.empty() || text == "*") {
        return std::optional<std::string>{};
    }
    if (text.size() > 2 && text.front() == '"' && text.back() == '"') {
        text = text.substr(1, text.size() - 2);
    }
    constexpr std::size_t kTagSize = 16;
    if (text.size() != kTagSize ||
        text.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
        return Error{Errc::BadSyntax,
                     "`If-Match` names the ETag that GET /v1/tenants/NAME/rules has"};
    }
    return std::optional{std::string{text}};
}

// The change of a tenant's rules that a request asks for, or why it is none.
std::variant<TenantApply, HttpResponse> change_of(const HttpRequest& request,
                                                  std::string_view after) {
    TenantApply apply{.tenant = tenant_in(request, after),
                      .text = request.body,
                      .file = argument(request, "file", "rules.yaml"),
                      .from = author_of(request),
                      .by_operator = request.tenant.empty()};
    if (find_tenant(apply.tenant) == nullptr) {
        return no_such_tenant(apply.tenant);
    }
    if (!request.parts.empty()) {
        return bad_request("the rules of a tenant are one file, and no form");
    }
    Result<std::optional<std::string>> wanted = tag_named_by(request.if_match);
    if (!wanted) {
        return bad_request(wanted.error().what);
    }
    apply.in_place_of = *std::move(wanted);
    if (const std::string confirm = argument(request, "confirm", ""); !confirm.empty()) {
        const Result<Nanoseconds> time = parse_confirm_time(confirm);
        if (!time) {
            return bad_request("`confirm`: " + time.error().what);
        }
        apply.confirm = *time;
    }
    return apply;
}

HttpResponse outcome(const RuleChange& change, const std::string& tenant, Services& services) {
    if (change.refusal) {
        return refused(*change.refusal);
    }
    const std::shared_ptr<const RuleView> view = services.rules.view();
    const TenantRules own = kept_rules(*view, tenant);
    HttpResponse response = json_response({{"tenant", tenant},
                                           {"etag", tag_of(own)},
                                           {"rules", change.rules},
                                           {"warnings", to_json(change.warnings)},
                                           {"unconfirmed", trial_json(own.end)},
                                           {"alone_in_cluster", cluster_name_json(services)}});
    response.etag = tag_of(own);
    return response;
}

}  // namespace

HttpResponse get_tenants(const HttpRequest&, Services& services) {
    const std::shared_ptr<const RuleView> view = services.rules.view();
    Json tenants = Json::array();
    for (const TenantOptions& tenant : tenant_options()) {
        tenants.push_back(state_json(*view, tenant));
    }
    // Rules of tenants that sluice.yaml has no more are kept, and are nobody's until it has them.
    Json gone = Json::array();
    for (const auto& [name, own] : view->tenants) {
        if (find_tenant(name) == nullptr && !own.text.empty()) {
            gone.push_back(name);
        }
    }
    return json_response({{"tenants", std::move(tenants)}, {"gone", std::move(gone)}});
}

HttpResponse get_tenant_rules(const HttpRequest& request, Services& services) {
    const std::string name = tenant_in(request, "/rules");
    const TenantOptions* tenant = find_tenant(name);
    if (tenant == nullptr) {
        return no_such_tenant(name);
    }
    const std::shared_ptr<const RuleView> view = view_for(request, services);
    const TenantRules own = kept_rules(*view, name);
    Json rules = Json::array();
    for (std::size_t i = 0; i < view->rules.size(); ++i) {
        if (tenant_of(view->rules[i].id) == name) {
            rules.push_back(rule_json(*view, i));
        }
    }
    Json document = state_json(*view, *tenant);
    document["etag"] = tag_of(own);
    document["text"] = own.text;
    document["rules"] = std::move(rules);
    HttpResponse response = json_response(document);
    response.etag = tag_of(own);
    return response;
}

HttpResponse put_tenant_rules(const HttpRequest& request, Services& services) {
    std::variant<TenantApply, HttpResponse> read = change_of(request, "/rules");
    if (auto* refusal = std::get_if<HttpResponse>(&read)) {
        return std::move(*refusal);
    }
    const auto& apply = std::get<TenantApply>(read);
    const RuleChange change = services.rules.apply_tenant(apply);
    record(services, request,
           "tenant apply " + apply.tenant +
               (apply.confirm ? " --confirm " + argument(request, "confirm", "") : ""),
           change);
    return outcome(change, apply.tenant, services);
}

// The answer of PUT, and what would be others of the tenant's rules. Nothing changes.
HttpResponse post_tenant_check(const HttpRequest& request, Services& services) {
    std::variant<TenantApply, HttpResponse> read = change_of(request, "/check");
    if (auto* refusal = std::get_if<HttpResponse>(&read)) {
        return std::move(*refusal);
    }
    const auto& apply = std::get<TenantApply>(read);
    const CheckedTenant checked = services.rules.check_tenant(apply);
    if (checked.refusal) {
        return refused(*checked.refusal);
    }
    return json_response({{"tenant", apply.tenant},
                          {"rules", checked.rules},
                          {"added", checked.diff.added},
                          {"removed", checked.diff.removed},
                          {"changed", rules_changed_json(checked.diff)},
                          {"unchanged", checked.diff.unchanged},
                          {"warnings", to_json(checked.warnings)}});
}

namespace {

using TenantCall = RuleChange (RuleKeeper::*)(const TenantTurn&);

HttpResponse turn_by(TenantCall call, const std::string& word, const HttpRequest& request,
                     Services& services) {
    const std::variant<TenantApply, HttpResponse> read = change_of(request, "/" + word);
    if (const auto* refusal = std::get_if<HttpResponse>(&read)) {
        return *refusal;
    }
    const auto& of = std::get<TenantApply>(read);
    const RuleChange change = (services.rules.*call)({.tenant = of.tenant,
                                                      .in_place_of = of.in_place_of,
                                                      .from = of.from,
                                                      .by_operator = of.by_operator});
    record(services, request, "tenant " + word + " " + of.tenant, change);
    return outcome(change, of.tenant, services);
}

}  // namespace

HttpResponse post_tenant_confirm(const HttpRequest& request, Services& services) {
    return turn_by(&RuleKeeper::confirm_tenant, "confirm", request, services);
}

HttpResponse post_tenant_rollback(const HttpRequest& request, Services& services) {
    return turn_by(&RuleKeeper::rollback_tenant, "rollback", request, services);
}

HttpResponse delete_tenant(const HttpRequest& request, Services& services) {
    const std::string tenant = tenant_in(request, "");
    const RuleChange change =
        services.rules.forget_tenant({.tenant = tenant, .from = author_of(request)});
    record(services, request, "tenant forget " + tenant, change);
    return change.refusal ? refused(*change.refusal) : json_response({{"forgotten", tenant}});
}

}  // namespace sluice
