#pragma once
#include "control/fleet/etcd_client.hpp"
#include "control/fleet/fleet_records.hpp"
#include "lib/base/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// A record, and the revision that wrote it last.
template <typename T>
struct Versioned {
    T value;
    std::int64_t modified = 0;
};

// The records that all follow, read at one instant. nullopt: there is none.
struct FleetView {
    std::uint64_t cluster = 0;
    std::optional<Versioned<Head>> head{};
    std::optional<Versioned<Rollout>> rollout{};
    std::optional<PanicRecord> panic{};
};

// Records of a cluster in its etcd.
class FleetStore {
public:
    FleetStore(EtcdClient etcd, std::string_view name) : etcd_{std::move(etcd)}, keys_{name} {}

    [[nodiscard]] Result<FleetView> view();
    // By their slots. One whose record cannot be read has the reason in its `error`.
    [[nodiscard]] Result<std::vector<NodeRecord>> nodes();
    [[nodiscard]] Result<std::vector<std::string>> drained();

    // Chunks that are there already are not written again. `progress`: called after each.
    [[nodiscard]] Result<Done> upload(const SetName& name, std::string_view bytes);
    // The bytes, which have the sum that the name says.
    [[nodiscard]] Result<std::string> download(const SetName& name);
    // Forgets the sets that none of these names.
    [[nodiscard]] Result<Done> keep_only(const std::vector<SetName>& names);

    [[nodiscard]] EtcdClient& etcd() noexcept { return etcd_; }
    [[nodiscard]] const FleetKeys& keys() const noexcept { return keys_; }

private:
    EtcdClient etcd_;
    FleetKeys keys_;
};

}  // namespace sluice
