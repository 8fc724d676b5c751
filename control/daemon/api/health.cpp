#include "control/daemon/api/api.hpp"

#include <nlohmann/json.hpp>

namespace sluice {

HttpResponse get_health(const HttpRequest&, Services& services) {
    const Result<Stats> stats = ask_stats(services);
    const DataplaneLink::Status status = services.link.status();
    const std::uint64_t generation = stats ? stats->generation : 0;
    return json_response({{"version", SLUICE_VERSION},
                          {"dataplane",
                           {{"connected", status.connected},
                            {"pid", status.pid},
                            {"generation", generation_text(generation)}}}});
}

}  // namespace sluice
