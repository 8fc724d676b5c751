#include "control/daemon/api/change.hpp"

namespace sluice {

namespace {

// Sides of services whose checksums are not verified, though nobody has asked for that.
Json trusted_json(const Stats& stats) {
    Json trusted = Json::array();
    for (const ServiceStats& service : stats.services) {
        for (const auto& [side, trust] :
             {std::pair{"clients", service.clients}, std::pair{"servers", service.servers}}) {
            if (trust == ChecksumTrust::Trusting) {
                trusted.push_back({{"service", service.id}, {"side", side}});
            }
        }
    }
    return trusted;
}

}  // namespace

// What a person on call wants to know first: whether the rules judge, and for how long.
HttpResponse get_health(const HttpRequest&, Services& services) {
    const Result<Stats> stats = ask_stats(services);
    const DataplaneLink::Status status = services.link.status();
    const std::uint64_t generation = stats ? stats->generation : 0;
    const std::shared_ptr<const RuleView> view = services.rules.view();
    return json_response({{"version", SLUICE_VERSION},
                          {"dataplane",
                           {{"connected", status.connected},
                            {"pid", status.pid},
                            {"generation", generation_text(generation)}}},
                          {"panic", stats ? Json(stats->panic) : Json()},
                          {"checksums_trusted", stats ? trusted_json(*stats) : Json()},
                          {"unconfirmed", unconfirmed_json(view->unconfirmed)}});
}

}  // namespace sluice
