#include "lib/rules/box_config.hpp"

#include "lib/base/device_text.hpp"

#include <algorithm>
#include <initializer_list>
#include <set>

namespace sluice {
namespace {

using Fault = std::optional<std::string>;

struct NamedText {
    std::string_view name;
    const std::string* text;
};

Fault fault_of_texts(std::initializer_list<NamedText> texts) {
    for (const auto& [name, text] : texts) {
        if (text->size() > kMostConfigText) {
            return std::string{name} + " is longer than " + std::to_string(kMostConfigText) +
                   " bytes";
        }
        if (text->find('\0') != std::string::npos) {
            return std::string{name} + " contains a zero byte";
        }
    }
    return std::nullopt;
}

template <typename T>
Fault fault_of_range(std::string_view name, const ConfigRange<T>& range, T value) {
    if (range.holds(value)) {
        return std::nullopt;
    }
    if constexpr (std::is_same_v<T, Nanoseconds>) {
        return std::string{name} + " is from " + std::to_string(range.least.count()) + " to " +
               std::to_string(range.most.count()) + " ns";
    } else {
        return std::string{name} + " is from " + std::to_string(range.least) + " to " +
               std::to_string(range.most);
    }
}

// The first fault of all.
Fault first_of(std::initializer_list<Fault> faults) {
    const auto found = std::find_if(faults.begin(), faults.end(),
                                    [](const Fault& one) { return one.has_value(); });
    return found == faults.end() ? std::nullopt : *found;
}

Fault fault_of_port(const PairConfig& pair, const PortConfig& port,
                    std::set<std::string_view>& devices, std::set<std::string>& interfaces) {
    if (port.device.empty()) {
        return "pair " + pair.name + " needs a device outside and one inside";
    }
    if (!devices.insert(bare_device_name(port.device)).second) {
        return "device " + port.device + " is given twice";
    }
    for (const std::string& interface : interfaces_of(port.device)) {
        if (!interfaces.insert(interface).second) {
            return "the interface " + interface + " is given twice: " + kSharedInterface;
        }
    }
    return first_of({fault_of_texts({{"a device", &port.device}}),
                     fault_of_range("the number of queues", kQueuesRange,
                                    std::uint64_t{port.queues.value_or(1)})});
}

Fault fault_of_pairs(const std::vector<PairConfig>& pairs) {
    if (pairs.size() > kMostPairs) {
        return "there are more than " + std::to_string(kMostPairs) + " port pairs";
    }
    std::set<std::string_view> names;
    std::set<std::string_view> devices;
    std::set<std::string> interfaces;
    for (const PairConfig& pair : pairs) {
        if (pair.name.empty()) {
            return "a port pair needs a name";
        }
        if (!names.insert(pair.name).second) {
            return "two port pairs have the name " + pair.name;
        }
        if (const Fault fault = first_of(
                {fault_of_texts({{"the name of a pair", &pair.name}}),
                 fault_of_range("mtu", kMtuRange, std::uint64_t{pair.mtu.value_or(kMtuRange.most)}),
                 fault_of_port(pair, pair.outside, devices, interfaces),
                 fault_of_port(pair, pair.inside, devices, interfaces)})) {
            return fault;
        }
    }
    return std::nullopt;
}

Fault fault_of_socket(const SocketOptions& socket) {
    if (socket.path.empty()) {
        return "a socket needs a path";
    }
    if (socket.mode > kMostSocketMode) {
        return "the mode of a socket is at most 0777";
    }
    return fault_of_texts({{"the path of a socket", &socket.path},
                           {"the owner of a socket", &socket.owner},
                           {"the group of a socket", &socket.group}});
}

// Without a path it lies beside the one for operators.
Fault fault_of_read_socket(SocketOptions socket) {
    socket.path = socket.path.empty() ? "beside" : socket.path;
    return fault_of_socket(socket);
}

Fault fault_of_dataplane_socket(const SocketOptions& socket) {
    if ((socket.mode & 0077) != 0) {
        return "dataplane.sock is for root and its owner alone: its mode is at most 0700";
    }
    return fault_of_socket(socket);
}

// A worker that sleeps without frames beats between two sleeps.
Fault fault_of_kernel(const KernelOptions& kernel, Nanoseconds idle_sleep) {
    if (kernel.pins.empty() || kernel.pins.front() != '/') {
        return "`pins` of `kernel` is a path from the root";
    }
    if (kernel.heartbeat / kBeatsInHeartbeat < idle_sleep) {
        return "the heartbeat is at least " + std::to_string(kBeatsInHeartbeat) +
               " times idle_sleep";
    }
    return first_of(
        {fault_of_texts({{"pins", &kernel.pins}}),
         fault_of_range("the heartbeat", kHeartbeatRange, kernel.heartbeat),
         fault_of_range("early_drop", kEarlyDropRange,
                        kernel.early_drop == 0 ? kEarlyDropRange.least : kernel.early_drop)});
}

Fault fault_of_management(const BoxConfig& config) {
    if (!config.management) {
        return std::nullopt;
    }
    const ManagementOptions& management = *config.management;
    if (!config.kernel) {
        return "`management` is for ports of `kernel`, and there is none";
    }
    if (management.allow.empty() || management.to.empty() ||
        management.allow.size() > kMostManaged || management.to.size() > kMostManaged) {
        return "`allow` and `to` of `management` have 1 to " + std::to_string(kMostManaged) +
               " items";
    }
    return fault_of_range("the rate of `management`", kManagementRateRange, management.rate);
}

Fault fault_of_units(const UnitOptions& units) {
    return first_of(
        {fault_of_range("the number of connections", kConnectionsRange, units.connections.max),
         fault_of_range("head_bytes", kHeadBytesRange, units.connections.head_bytes),
         fault_of_range("the timeout of half heads", kHalfHeadRange, units.connections.timeout),
         fault_of_range("the table of fragments", kFragmentsRange, units.fragments.table),
         fault_of_range("the timeout of fragments", kFragmentTimeRange, units.fragments.timeout),
         fault_of_range("the budget of QUIC Initials", kPercentRange,
                        units.quic_initials_percent)});
}

}  // namespace

std::string_view bare_device_name(std::string_view device) noexcept {
    return device.substr(0, device.find(','));
}

std::optional<std::string> find_fault(const BoxConfig& config) {
    if (config.state_dir.empty()) {
        return "the state directory needs a path";
    }
    const std::uint64_t mbufs = config.mbufs == 0 ? kMbufsRange.least : config.mbufs;
    return first_of(
        {fault_of_pairs(config.pairs),
         fault_of_texts({{"lcores", &config.lcores},
                         {"state_dir", &config.state_dir},
                         {"the snapshot file", &config.snapshot_file},
                         {"user", &config.user},
                         {"database_key", &config.database_key},
                         {"rules", &config.rules}}),
         fault_of_range("stall", kStallRange, config.watchdog_stall),
         fault_of_range("idle_sleep", kIdleSleepRange, config.idle_sleep),
         fault_of_range("the merge interval", kMergeRange, config.merge_interval),
         fault_of_range("every", kSnapshotRange, config.snapshot_every),
         fault_of_range("mbufs", kMbufsRange, mbufs),
         fault_of_range("held", kHeldPercentRange, std::uint64_t{config.held_percent}),
         fault_of_range("keys", kTableKeysRange, config.table_keys),
         fault_of_kernel(config.kernel.value_or(KernelOptions{.heartbeat = kHeartbeatRange.most}),
                         config.idle_sleep),
         fault_of_management(config), fault_of_units(config.units), fault_of_socket(config.control),
         fault_of_read_socket(config.read_only), fault_of_dataplane_socket(config.dataplane)});
}

}  // namespace sluice
