#include "lib/rules/box_config.hpp"

#include "lib/base/device_text.hpp"

#include <algorithm>
#include <initializer_list>
#include <set>

namespace sluice {
namespace {

using Fault = std::optional<std::string>;

template <typename Number>
Number number_in(const Number& number) {
    return number;
}
template <typename Number>
Number number_in(const std::optional<Number>& number) {
    return *number;
}

Fault fault_of(const std::string& name, const std::string& text) {
    if (text.size() > kMostConfigText) {
        return name + " is longer than " + std::to_string(kMostConfigText) + " bytes";
    }
    return text.find('\0') == std::string::npos ? Fault{} : name + " contains a zero byte";
}

template <typename T>
Fault fault_of(const std::string& name, const ConfigRange<T>& range,
               const std::type_identity_t<T>& value) {
    if (range.holds(value)) {
        return std::nullopt;
    }
    if constexpr (std::is_same_v<T, Nanoseconds>) {
        return name + " is from " + std::to_string(range.least.count()) + " to " +
               std::to_string(range.most.count()) + " ns";
    } else {
        return name + " is from " + std::to_string(range.least) + " to " +
               std::to_string(range.most);
    }
}

template <typename Row, typename Options>
Fault fault_of_row(const std::string& within, const Row& row, const Options& options);

// The first text or number that is not right, by its path in the file.
template <typename... Rows>
Fault fault_of_rows(const std::string& within, const std::tuple<Rows...>& rows,
                    const auto& options) {
    Fault first;
    for_each_key(rows, [&](const auto& row) {
        first = first ? first : fault_of_row(within + std::string{row.name}, row, options);
    });
    return first;
}
template <HasConfigKeys Options>
Fault fault_of_part(const std::string& within, const Options& options) {
    return fault_of_rows(within, kConfigKeys<Options>, options);
}
template <HasConfigKeys Options>
Fault fault_of_part(const std::string& within, const std::optional<Options>& options) {
    return options ? fault_of_part(within, *options) : std::nullopt;
}

template <typename Row, typename Options>
Fault fault_of_row(const std::string& path, const Row& row, const Options& options) {
    if constexpr (requires { row.rows; }) {
        return fault_of_rows(path + ".", row.rows, options);
    } else if constexpr (requires { fault_of_part(path, options.*row.member); }) {
        return fault_of_part(row.name.empty() ? path : path + ".", options.*row.member);
    } else if constexpr (requires { fault_of(path, options.*row.member); }) {
        return fault_of(path, options.*row.member);
    } else if constexpr (requires { row.form.range; }) {
        const auto& value = options.*row.member;
        return value == Options{}.*row.member ? Fault{}
                                              : fault_of(path, row.form.range, number_in(value));
    } else {
        return std::nullopt;
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
    return std::nullopt;
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
        if (const Fault fault = first_of({fault_of_part("ports.", pair),
                                          fault_of_port(pair, pair.outside, devices, interfaces),
                                          fault_of_port(pair, pair.inside, devices, interfaces)})) {
            return fault;
        }
    }
    return std::nullopt;
}

// The socket for readers without a path lies beside the one for operators.
Fault fault_of_sockets(const BoxConfig& config) {
    if (config.control.path.empty() || config.dataplane.path.empty()) {
        return "a socket needs a path";
    }
    if (std::max({config.control.mode, config.read_only.mode, config.dataplane.mode}) >
        kMostSocketMode) {
        return "the mode of a socket is at most 0777";
    }
    if ((config.dataplane.mode & 0077) != 0) {
        return "dataplane.sock is for root and its owner alone: its mode is at most 0700";
    }
    return std::nullopt;
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
    return std::nullopt;
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
    return std::nullopt;
}

Fault fault_of_options(const std::optional<ClusterOptions>& cluster) {
    const std::optional<ClusterFault> fault = cluster ? fault_of_cluster(*cluster) : std::nullopt;
    return fault ? Fault{fault->text} : std::nullopt;
}

}  // namespace

std::string_view bare_device_name(std::string_view device) noexcept {
    return device.substr(0, device.find(','));
}

std::optional<std::string> find_fault(const BoxConfig& config) {
    if (config.state_dir.empty()) {
        return "the state directory needs a path";
    }
    return first_of({fault_of_pairs(config.pairs), fault_of_part("", config),
                     config.kernel ? fault_of_kernel(*config.kernel, config.idle_sleep) : Fault{},
                     fault_of_management(config), fault_of_sockets(config),
                     fault_of_options(config.cluster)});
}

}  // namespace sluice
