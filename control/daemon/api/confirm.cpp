#include "control/daemon/api/change.hpp"

namespace sluice {

HttpResponse post_confirm(const HttpRequest& request, Services& services) {
    const RuleChange change = services.rules.confirm();
    record(services, request, "confirm", change);
    return change.refusal ? refused(*change.refusal) : changed(change, services);
}

HttpResponse post_rollback(const HttpRequest& request, Services& services) {
    const RuleChange change = services.rules.rollback(request.peer.uid);
    record(services, request, "rollback", change);
    return change.refusal ? refused(*change.refusal) : changed(change, services);
}

}  // namespace sluice
