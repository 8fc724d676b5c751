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
    std::optional<Versioned<Head>> head{};
    std::optional<Versioned<Rollout>> rollout{};
};

// Records of a cluster in its etcd.
class FleetStore {
public:
    FleetStore(EtcdClient etcd, std::string_view name) : etcd_{std::move(etcd)}, keys_{name} {}

    [[nodiscard]] Result<FleetView> view();
    // By their slots. One whose record cannot be read has the reason in its `error`.
    [[nodiscard]] Result<std::vector<NodeRecord>> nodes();
    [[nodiscard]] Result<std::vector<std::string>> drained();
    // Boxes that have been members and are none now, by name: neither drained nor forgotten.
    [[nodiscard]] Result<std::vector<std::string>> away(const std::vector<NodeRecord>& nodes,
                                                        const std::vector<std::string>& drained);
    // The number of slots; 0: no box has begun the cluster.
    [[nodiscard]] Result<std::uint64_t> size();

    // The key of the panic alone, whatever the other records are.
    [[nodiscard]] Result<std::optional<PanicRecord>> panic();

    // Chunks that are there already are not written again. `between`: called after each; its error
    // ends the upload.
    [[nodiscard]] Result<Done> upload(const SetName& name, std::string_view bytes,
                                      const std::function<Result<Done>()>& between = {});
    // The bytes, which have the sum that the name says.
    [[nodiscard]] Result<std::string> download(const SetName& name);
    // True where the set's last chunk is there.
    [[nodiscard]] Result<bool> has_set(const SetName& name);
    // Deletes the sets that the head does not name, while no rollout is under way and the head
    // stays as it is.
    [[nodiscard]] Result<Done> delete_unnamed();

    [[nodiscard]] EtcdClient& etcd() noexcept { return etcd_; }
    [[nodiscard]] const FleetKeys& keys() const noexcept { return keys_; }

private:
    [[nodiscard]] Result<std::vector<std::string>> names(const std::string& prefix);

    EtcdClient etcd_;
    FleetKeys keys_;
};

}  // namespace sluice
