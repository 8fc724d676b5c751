#include "control/daemon/fleet/fleet_part.hpp"

#include "control/daemon/api/api.hpp"
#include "control/random_secret.hpp"
#include "control/text_file.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <span>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kMostSecret = 4096;  // bytes

}  // namespace

std::string digest_of_cluster_secret(std::string_view text) {
    constexpr std::size_t kShown = 8;  // bytes
    std::string digits = "sluice cluster secret ";
    for (const char c : text.substr(0, text.find_first_of("\r\n"))) {
        digits.push_back(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    const Sha256Digest digest = digest_of(digits);
    std::string hex;
    for (const auto byte : std::span{digest}.first(kShown)) {
        hex += fmt::format("{:02x}", static_cast<unsigned>(byte));
    }
    return hex;
}

Result<std::optional<FleetAccess>> open_fleet(const std::optional<ClusterOptions>& cluster) {
    if (!cluster || !cluster->etcd) {
        return std::optional<FleetAccess>{};
    }
    Result<EtcdAccess> etcd = open_etcd(*cluster->etcd, "");
    if (!etcd) {
        return etcd.error();
    }
    FleetAccess access{.etcd = *std::move(etcd)};
    const Result<std::string> secret = read_text_file(cluster->secret_file, kMostSecret);
    if (secret) {
        access.secret = digest_of_cluster_secret(*secret);
    } else {
        spdlog::warn("{}; whether the cluster's other boxes have the same secret is not compared",
                     secret.error().what);
    }
    return std::optional{std::move(access)};
}

FleetPart::FleetPart(const std::optional<ClusterOptions>& cluster,
                     std::optional<FleetAccess> access)
    : access_{std::move(access)} {
    if (access_) {
        board_.emplace(*cluster);
        desk_.emplace(*board_, [this] {
            return FleetStore{connect_etcd(access_->etcd), board_->options().name};
        });
    }
}

void FleetPart::offer(Services& services) noexcept {
    services.fleet = board();
    services.desk = desk_ ? &*desk_ : nullptr;
}

Result<Done> FleetPart::join(FleetFollower::Box box) {
    if (!access_) {
        return Done{};
    }
    Result<FleetState> state =
        load_fleet_state(box.state_dir, board_->options().name, board_->options().node);
    if (!state) {
        return state.error();
    }
    if (const Result<Done> done = save_fleet_state(box.state_dir, *state); !done) {
        return done.error();
    }
    threads_ = std::make_unique<FleetThreads>(*access_, *board_, std::move(box), *std::move(state));
    return Done{};
}

}  // namespace sluice
