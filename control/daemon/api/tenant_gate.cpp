#include "control/daemon/api/tenant_gate.hpp"

#include "control/daemon/api/api.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

HttpResponse not_for_tenants(const HttpRequest& request, std::string_view instead) {
    return problem_response(
        403, "role",
        fmt::format(
            "{} {} is not for tenants: {} belongs to {}, which sees and changes nothing but "
            "its own rules{}",
            request.method, visible_line(request.path), visible_line(request.user), request.tenant,
            instead));
}

}  // namespace

bool may_know(const HttpRequest& request, std::string_view rule_id) {
    return request.role != Role::Tenant ||
           (!request.tenant.empty() && tenant_of(rule_id) == request.tenant);
}

std::optional<HttpResponse> refuse_tenant(const HttpRequest& request, ForTenant may,
                                          std::string_view named) {
    const std::string rule = argument(request, "rule", "");
    switch (may) {
        case ForTenant::Refused:
            return not_for_tenants(request, "");
        case ForTenant::OwnRule:
            if (!may_know(request, named)) {
                return no_such_rule(std::string{named});
            }
            break;
        case ForTenant::OwnName:
            if (named != request.tenant) {
                return no_such_tenant(named);
            }
            break;
        case ForTenant::AskedRule:
            if (rule.empty()) {
                return not_for_tenants(request, "; with `rule`, one of them, it is");
            }
            break;
        default:
            break;
    }
    return rule.empty() || may_know(request, rule) ? std::nullopt
                                                   : std::optional{no_such_rule(rule)};
}

}  // namespace sluice
