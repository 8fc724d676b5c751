#include "control/daemon/api/api.hpp"
#include "control/daemon/api/tenant_view.hpp"
#include "control/json.hpp"
#include "lib/base/whole_number.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sluice {
namespace {

constexpr auto kOrders = std::to_array<std::string_view>({"hits", "denied", "remaining", "bits"});
constexpr auto kWindows = std::to_array<std::string_view>({"1s", "10s", "60s"});
static_assert(kWindows.size() == kTopWindows.size());
constexpr std::uint32_t kMostKeys = 1000;

// The query; or why it cannot be answered.
struct TopQuery {
    GetTop request;
    std::string wrong;
};

TopQuery read_top_query(const HttpRequest& request) {
    TopQuery asked;
    asked.request.rule = argument(request, "rule", "");
    const std::string order = argument(request, "by", "hits");
    const auto found = std::find(kOrders.begin(), kOrders.end(), order);
    if (found == kOrders.end()) {
        asked.wrong = "`by` is hits, denied, remaining or bits";
    }
    asked.request.order = static_cast<TopOrder>(found - kOrders.begin());
    const std::string window = argument(request, "window", "10s");
    const auto over = std::find(kWindows.begin(), kWindows.end(), window);
    if (over == kWindows.end()) {
        asked.wrong = "`window` is 1s, 10s or 60s";
    }
    asked.request.window = static_cast<TopWindow>(over - kWindows.begin());
    asked.request.count = whole_number<std::uint32_t>(argument(request, "count", "20")).value_or(0);
    if (asked.request.count == 0 || asked.request.count > kMostKeys) {
        asked.wrong = "`count` is a number from 1 to " + std::to_string(kMostKeys);
    }
    return asked;
}

// Packets each second, to a thousandth.
double per_second(std::uint64_t count, std::uint64_t window_ns) {
    const double seconds = static_cast<double>(std::max<std::uint64_t>(window_ns, 1)) / 1e9;
    return std::round(static_cast<double>(count) / seconds * 1000) / 1000;
}

Json key_json(const TopKey& key) {
    return {{"rule", key.rule},
            {"key", key.key},
            {"hits_per_s", per_second(key.hits, key.window_ns)},
            {"hits_error_per_s", per_second(key.hits_error, key.window_ns)},
            {"denied_per_s", per_second(key.denied, key.window_ns)},
            {"denied_error_per_s", per_second(key.denied_error, key.window_ns)},
            {"bits_per_s", per_second(key.bytes * 8, key.window_ns)},
            {"bits_error_per_s", per_second(key.bytes_error * 8, key.window_ns)},
            {"remaining", key.remaining ? Json(*key.remaining) : Json()},
            {"exempt", key.exempt},
            {"banned", key.banned}};
}

}  // namespace

HttpResponse get_top(const HttpRequest& request, Services& services) {
    const TopQuery asked = read_top_query(request);
    if (!asked.wrong.empty()) {
        return bad_request(asked.wrong);
    }
    if (!asked.request.rule.empty() &&
        find_rule(view_for(request, services)->rules, asked.request.rule) == nullptr) {
        return no_such_rule(asked.request.rule);
    }
    const Result<Top> top = ask_for<Top>(services.link, asked.request);
    if (!top) {
        return no_dataplane(top.error());
    }
    Json keys = Json::array();
    for (const TopKey& key : top->keys) {
        keys.push_back(key_json(key));
    }
    return json_response({{"window_s", static_cast<double>(top->window_ns) / 1e9},
                          {"samples", top->samples},
                          {"lost", top->lost},
                          {"keys", std::move(keys)}});
}

}  // namespace sluice
