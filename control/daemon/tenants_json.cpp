#include "control/daemon/tenants_json.hpp"

#include "control/daemon/author_json.hpp"
#include "control/daemon/whole_number.hpp"
#include "lib/rules/tenant_name.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace sluice {

nlohmann::json tenants_json(const TenantTexts& tenants) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [name, rules] : tenants) {
        nlohmann::json one{
            {"text", rules.text}, {"before", rules.before}, {"changed_at", rules.changed_at}};
        add_author(one, rules.changed_by);
        if (rules.end) {
            one["unconfirmed"] = {{"boot", rules.end->at.boot},
                                  {"end_ns", rules.end->at.since.count()},
                                  {"end_utc", rules.end->utc},
                                  {"before", rules.before_trial}};
        }
        object[name] = std::move(one);
    }
    return object;
}

TenantTexts tenants_of(const nlohmann::json& object) {
    TenantTexts tenants;
    for (const auto& [name, one] : object.items()) {
        TenantRules rules{.text = one.at("text"),
                          .changed_at = whole_number_in<std::int64_t>(one.at("changed_at")),
                          .changed_by = read_author(one),
                          .before = one.at("before")};
        if (const auto end = one.find("unconfirmed"); end != one.end()) {
            rules.end =
                TrialEnd{.at = {.boot = end->at("boot"),
                                .since = std::chrono::nanoseconds{whole_number_in<std::int64_t>(
                                    end->at("end_ns"))}},
                         .utc = whole_number_in<std::int64_t>(end->at("end_utc"))};
            rules.before_trial = end->value("before", "");
        }
        if (is_tenant_name(name)) {
            tenants.emplace(name, std::move(rules));
        }
    }
    return tenants;
}

}  // namespace sluice
