#include "control/daemon/api/api.hpp"
#include "control/daemon/api/tenant_view.hpp"
#include "control/daemon/api/verbs.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

namespace sluice::tenant_gate_test {
namespace {

HttpRequest of_tenant(std::map<std::string, std::string> query = {}) {
    return {.method = "GET",
            .path = "/v1/x",
            .query = std::move(query),
            .role = Role::Tenant,
            .user = "eve",
            .tenant = "acme"};
}

unsigned status_of(const HttpRequest& request, ForTenant may, std::string_view named) {
    const auto refusal = refuse_tenant(request, may, named);
    return refusal ? refusal->status : 200;
}

// All that a tenant's people may call; every other row of the table is refused.
const std::map<std::string, ForTenant> kTheirs{
    {"GET /v1/rules", ForTenant::OwnOnly},
    {"GET /v1/rules/*/full", ForTenant::OwnRule},
    {"PUT /v1/rules/*/mode", ForTenant::OwnRule},
    {"GET /v1/rules/*/key", ForTenant::OwnRule},
    {"POST /v1/rules/*/key", ForTenant::OwnRule},
    {"GET /v1/rules/*/keys", ForTenant::OwnRule},
    {"POST /v1/rules/*/keys", ForTenant::OwnRule},
    {"GET /v1/rules/*/heatmap", ForTenant::OwnRule},
    {"GET /v1/rules/*/heatmap/cell", ForTenant::OwnRule},
    {"POST /v1/rules/*/bans", ForTenant::OwnRule},
    {"POST /v1/rules/*/unbans", ForTenant::OwnRule},
    {"GET /v1/keys", ForTenant::AskedRule},
    {"GET /v1/bans", ForTenant::OwnOnly},
    {"GET /v1/top", ForTenant::AskedRule},
    {"GET /v1/events", ForTenant::OwnOnly},
    {"GET /v1/live", ForTenant::OwnOnly},
    {"GET /v1/series", ForTenant::AskedRule},
    {"POST /v1/simulate", ForTenant::Anything},
    {"GET /v1/fields", ForTenant::Anything},
    {"GET /v1/tenants/*/rules", ForTenant::OwnName},
    {"PUT /v1/tenants/*/rules", ForTenant::OwnName},
    {"POST /v1/tenants/*/check", ForTenant::OwnName},
    {"POST /v1/tenants/*/confirm", ForTenant::OwnName},
    {"POST /v1/tenants/*/rollback", ForTenant::OwnName},
    {"GET /v1/schema", ForTenant::Anything},
    {"GET /v1/session", ForTenant::OwnOnly},
    {"DELETE /v1/session", ForTenant::OwnOnly},
};

TEST(TenantGate, EveryRowSaysWhatATenantMayDoOrIsRefused) {
    std::size_t theirs = 0;
    for (const RouteShape& row : route_shapes()) {
        const std::string call = std::string{row.method} + " " + std::string{row.path};
        const auto found = kTheirs.find(call);
        EXPECT_EQ(row.for_tenant, found == kTheirs.end() ? ForTenant::Refused : found->second)
            << call;
        theirs += found == kTheirs.end() ? 0 : 1;
        // No comparison of roles lets a tenant's people through.
        EXPECT_TRUE(row.role == Role::None || Role::Tenant < row.role) << call;
    }
    EXPECT_EQ(theirs, kTheirs.size());
}

TEST(TenantGate, ARowWithoutAWordIsRefusedWithAClearText) {
    const auto refusal = refuse_tenant(of_tenant(), ForTenant{}, "acme:web");
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->status, 403U);
    EXPECT_NE(refusal->body.find("not for tenants"), std::string::npos) << refusal->body;
}

TEST(TenantGate, RulesOfOthersAreNotThere) {
    constexpr const char* kOthers[] = {"other:web", "web",      "acme",           "acm:web",
                                       "acmex:web", "ACME:web", "other:acme:web", ":acme:web",
                                       ":web",      "",         " acme:web",      "acme%3Aweb"};
    EXPECT_EQ(status_of(of_tenant(), ForTenant::OwnRule, "acme:web"), 200U);
    EXPECT_EQ(status_of(of_tenant(), ForTenant::OwnRule, "acme:web.candidate"), 200U);
    const std::string mine = refuse_tenant(of_tenant(), ForTenant::OwnRule, "none")->body;
    for (const char* id : kOthers) {
        EXPECT_EQ(status_of(of_tenant(), ForTenant::OwnRule, id), 404U) << id;
        for (const ForTenant may :
             {ForTenant::OwnRule, ForTenant::AskedRule, ForTenant::OwnOnly, ForTenant::Anything}) {
            const HttpRequest asked = of_tenant({{"rule", id}});
            const unsigned without = may == ForTenant::AskedRule ? 403U : 200U;
            EXPECT_EQ(status_of(asked, may, "acme:web"), *id == '\0' ? without : 404U) << id;
        }
    }
    // A rule that another has is refused in the words of one that nobody has.
    EXPECT_EQ(mine, no_such_rule("none").body);
    HttpRequest without_name = of_tenant();
    without_name.tenant.clear();
    for (const char* id : {"web", ":web", "acme:web"}) {
        EXPECT_EQ(status_of(without_name, ForTenant::OwnRule, id), 404U) << id;
    }
}

TEST(TenantGate, TheNameInAPathIsTheirs) {
    EXPECT_EQ(status_of(of_tenant(), ForTenant::OwnName, "acme"), 200U);
    for (const char* name : {"other", "acm", "acme:", "ACME", ""}) {
        EXPECT_EQ(status_of(of_tenant(), ForTenant::OwnName, name), 404U) << name;
    }
}

TEST(TenantGate, OperatorsKnowAllRules) {
    HttpRequest operators = of_tenant();
    operators.role = Role::View;
    operators.tenant.clear();
    EXPECT_TRUE(may_know(operators, "web"));
    EXPECT_TRUE(may_know(operators, "acme:web"));
}

RuleView of_two() {
    RuleView view{.generation = 7, .file = "rules.yaml", .text = "secret", .tag = "7-8"};
    for (const char* id : {"web", "acme:web", "other:web", "acme:web.trial"}) {
        view.rules.push_back({.id = id});
        view.rules.back().stance.services = {"of-the-operators"};
        view.file_modes.push_back(Mode::Monitor);
        view.keys.push_back({.rule = id, .key = "192.0.2.1"});
    }
    return view;
}

TEST(TenantView, HasNothingOfOthers) {
    const RuleView own = view_of_tenant(of_two(), "acme");
    ASSERT_EQ(own.rules.size(), 2U);
    EXPECT_EQ(own.rules[0].id, "acme:web");
    EXPECT_EQ(own.rules[1].id, "acme:web.trial");
    EXPECT_TRUE(own.rules[0].stance.services.empty());
    ASSERT_EQ(own.keys.size(), 2U);
    EXPECT_EQ(own.keys[0].rule, "acme:web");
    EXPECT_EQ(own.text, "");
    EXPECT_EQ(own.file, "acme");
    EXPECT_EQ(view_of_tenant(of_two(), "acm").rules.size(), 0U);
}

TEST(TenantView, TheTagChangesWithOwnChangesAlone) {
    RuleView view = of_two();
    const std::string tag = view_of_tenant(view, "acme").tag;
    view.generation = 9;
    view.tag = "9-9";
    view.rules[0].mode = Mode::Enforce;
    view.rules[2].mode = Mode::Enforce;
    view.keys.push_back({.rule = "other:web", .key = "192.0.2.9"});
    EXPECT_EQ(view_of_tenant(view, "acme").tag, tag);
    view.rules[1].mode = Mode::Enforce;
    const std::string changed = view_of_tenant(view, "acme").tag;
    EXPECT_NE(changed, tag);
    view.keys.push_back({.rule = "acme:web", .key = "192.0.2.9"});
    EXPECT_NE(view_of_tenant(view, "acme").tag, changed);
}

TEST(TenantView, TheGenerationIsHiddenAndNothingElse) {
    HttpResponse response{.body = R"({"generation":"00ab","of":"\"generation\":\"kept\"",)"
                                  R"("in":[{"generation":"00cd"}],"generation":null})"};
    hide_generation(response);
    EXPECT_EQ(response.body, R"({"generation":null,"of":"\"generation\":\"kept\"",)"
                             R"("in":[{"generation":null}],"generation":null})");
    response.body = R"({"generation":"cut)";
    hide_generation(response);
    EXPECT_EQ(response.body, R"({"generation":null)");
}

TEST(TenantPaces, EachTenantHasItsOwn) {
    TenantPaces paces;
    for (unsigned i = 0; i < TenantPaces::kAtOnce; ++i) {
        ASSERT_TRUE(paces.take("acme")) << i;
    }
    EXPECT_FALSE(paces.take("acme"));
    EXPECT_TRUE(paces.take("other"));
}

}  // namespace
}  // namespace sluice::tenant_gate_test
