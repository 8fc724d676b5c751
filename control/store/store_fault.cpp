#include "control/store/store_fault.hpp"

#include "control/visible_text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sluice {
namespace {

struct FaultRow {
    std::string_view begins;
    StoreLinkState state;
    std::string_view why;
};

constexpr auto kFaults = std::to_array<FaultRow>({
    {"LOADING", StoreLinkState::Away, "the store is loading its data"},
    {"MASTERDOWN", StoreLinkState::Away, "the store is a replica that has lost its primary"},
    {"READONLY", StoreLinkState::Away, "the store is a replica, which takes no amounts"},
    {"BUSY", StoreLinkState::Away, "the store is busy with a script"},
    {"CLUSTERDOWN", StoreLinkState::Away, "the store's Redis Cluster is down"},
    {"NOREPLICAS", StoreLinkState::Away, "the store has fewer replicas than it is to have"},
    {"OOM", StoreLinkState::Refused, "the store has no memory left: raise its maxmemory"},
    {"MISCONF", StoreLinkState::Refused, "the store cannot write its snapshots and takes nothing"},
    {"NOPERM", StoreLinkState::Refused,
     "the store's user lacks rights: sluice-store(8) lists what it needs"},
    {"ERR The user executing the script", StoreLinkState::Refused,
     "the store's user lacks rights that the function needs: sluice-store(8) lists them"},
    {"WRONGPASS", StoreLinkState::Refused, "the store knows no such user and password"},
    {"NOAUTH", StoreLinkState::Refused,
     "the store asks for a password: cluster.store.password_file"},
    {"ERR Function not found", StoreLinkState::Refused,
     "the store lacks the function sl1: load it with `sluicectl store init`"},
    {"ERR unknown command", StoreLinkState::Refused,
     "the store is older than Redis 7.0, which has functions"},
    {"MOVED", StoreLinkState::Refused,
     "the store is a node of a Redis Cluster: cluster.store.cluster_mode"},
    {"NOSCRIPT", StoreLinkState::Refused,
     "the store lacks the script sl1, which it forgets at each restart: load it with `sluicectl "
     "store init`"},
    {"ERR This instance has cluster support disabled", StoreLinkState::Refused,
     "the store is no node of a Redis Cluster, and cluster.store says cluster_mode"},
});

constexpr std::size_t kMostErrorText = 200;

const FaultRow* row_of(std::string_view error) noexcept {
    const auto* row = std::ranges::find_if(
        kFaults, [&](const FaultRow& each) { return error.starts_with(each.begins); });
    return row == kFaults.end() ? nullptr : row;
}

}  // namespace

bool is_known_fault(std::string_view error) noexcept {
    return row_of(error) != nullptr;
}

StoreFault store_fault_of(std::string_view error) {
    const FaultRow* row = row_of(error);
    const std::string text = visible_line(error.substr(0, kMostErrorText));
    if (row == nullptr) {
        return {StoreLinkState::Refused, fmt::format("the store answers: {}", text)};
    }
    return {row->state, fmt::format("{} ({})", row->why, text)};
}

bool lacks_right(std::string_view error) noexcept {
    return error.starts_with("ERR unknown command") ||
           (error.starts_with("NOPERM") && error.find("'fcall'") != std::string_view::npos);
}

bool lacks_functions(std::string_view error) noexcept {
    return error.starts_with("ERR Function not found") || lacks_right(error);
}

std::string_view info_value(std::string_view info, std::string_view name) {
    for (std::size_t at = 0; at < info.size();) {
        const std::size_t end = std::min(info.find("\r\n", at), info.size());
        const std::string_view line = info.substr(at, end - at);
        if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
            return line.substr(name.size() + 1);
        }
        at = end + 2;
    }
    return {};
}

std::optional<StoreFault> memory_fault(std::string_view info) {
    const std::string_view policy = info_value(info, "maxmemory_policy");
    if (info_value(info, "maxmemory") == "0" || policy == "noeviction") {
        return std::nullopt;
    }
    return StoreFault{
        StoreLinkState::Refused,
        fmt::format("the store may evict keys (maxmemory-policy {}), and who was evicted spends "
                    "anew: set it to noeviction",
                    visible_line(policy.substr(0, kMostErrorText)))};
}

std::optional<StoreFault> role_fault(std::string_view info, Durability durability) {
    if (info_value(info, "role") != "master") {
        return StoreFault{StoreLinkState::Away, "the store is a replica, which takes no amounts"};
    }
    if (durability == Durability::Replica && info_value(info, "connected_slaves") == "0") {
        return StoreFault{StoreLinkState::Away,
                          "durability is replica, and no replica of the store is connected"};
    }
    return std::nullopt;
}

}  // namespace sluice
