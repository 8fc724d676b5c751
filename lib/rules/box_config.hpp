#pragma once
#include "lib/base/config_key.hpp"
#include "lib/base/log.hpp"
#include "lib/base/units.hpp"
#include "lib/l7/stream/unit_options.hpp"
#include "lib/packet/parse.hpp"
#include "lib/packet/rss.hpp"
#include "lib/packet/verdict.hpp"
#include "lib/rules/cluster_options.hpp"
#include "lib/rules/management.hpp"
#include "lib/rules/tenant_options.hpp"
#include "lib/rules/web_options.hpp"

#include <sys/types.h>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The box itself (ports, cores, memory, sockets), as sluice.yaml compiles to it and as the
// dataplane starts by it. Policy is in the rule set.
namespace sluice {

enum class HugePages : std::uint8_t { Auto, Required, None };
enum class LogFormat : std::uint8_t { Text, JsonLines, Journal };
// The behaviour of a box without rules: LastGood takes the set before the one that cannot be read,
// and passes where there is none.
enum class OnNoRules : std::uint8_t { LastGood, Pass, Drop };
// The kernel's treatment of frames of af_xdp ports while no box takes them.
enum class KernelFail : std::uint8_t { Open, Closed };
// The place of the kernel's program at them: at the driver, or behind it, before the kernel's own
// stack. Auto: at the driver, where that can.
enum class KernelMode : std::uint8_t { Auto, Native, Generic };

// By their numbers, as sluice.yaml spells them.
inline constexpr auto kHugePagesNames =
    std::to_array<std::string_view>({"auto", "required", "none"});
inline constexpr auto kOnNoRulesNames =
    std::to_array<std::string_view>({"last_good", "pass", "drop"});
inline constexpr auto kKernelFailNames = std::to_array<std::string_view>({"open", "closed"});
inline constexpr auto kKernelModeNames =
    std::to_array<std::string_view>({"auto", "native", "generic"});
inline constexpr auto kMalformedNames = std::to_array<std::string_view>({"drop", "pass"});
inline constexpr auto kLogLevelNames =
    std::to_array<std::string_view>({"debug", "info", "warn", "error"});
inline constexpr auto kLogFormatNames =
    std::to_array<std::string_view>({"text", "json", "journal"});

inline constexpr auto kWatchdogActions = std::to_array<std::string_view>({"report"});

struct PortConfig {
    std::string device;                   // PCI address, or vdev with its arguments
    std::optional<std::uint32_t> queues;  // nullopt: one for each worker, if the port has RSS
    Rss rss = Rss::Source;
};

struct PairConfig {
    std::string name;
    PortConfig outside;
    PortConfig inside;
    std::optional<std::uint16_t> mtu;  // nullopt: the one that the ports have
    bool link_follow = true;           // a side that goes down takes the other side down
    bool hand_over = true;  // workers pass frames on where a port does not spread them as asked
};

struct SocketOptions {
    std::string path;
    mode_t mode = 0660;
    std::string owner;  // user name; empty: as the process
    std::string group;  // group name; empty: as the process
};

// The API by TCP, for those who have the token. Only sluiced reads it.
struct ApiOptions {
    VersionedAddress address{};
    std::uint16_t port = 0;
    std::string token_file;  // relative to sluice.yaml
    bool read_only = true;   // only what changes nothing
};

// A place that notices of rules with `notify` go to. Only sluiced reads it.
struct Webhook {
    std::string name;  // that rules say
    std::string url;
    std::string secret_file;  // relative to sluice.yaml; notices are signed with what is in it
    std::string ca_file;      // likewise; empty: the certificates that the system trusts

    bool operator==(const Webhook&) const = default;
};

// The program in the kernel at af_xdp ports, which outlives the box.
struct KernelOptions {
    KernelFail fail = KernelFail::Open;
    KernelMode mode = KernelMode::Auto;
    Nanoseconds heartbeat = std::chrono::milliseconds{100};  // without one the box counts as gone
    std::string pins = "/sys/fs/bpf";  // a mount of the kernel's file system for programs and maps

    std::uint64_t early_drop = 0;  // networks that each port drops by itself, at most

    bool operator==(const KernelOptions&) const = default;
};

struct BoxConfig {
    std::vector<PairConfig> pairs;
    std::string lcores;  // DPDK's --lcores; empty: main on CPU 0, one worker on the next
    Nanoseconds watchdog_stall = std::chrono::seconds{1};
    Nanoseconds idle_sleep{0};  // of a worker without frames; 0: it polls without pause
    Nanoseconds merge_interval = std::chrono::milliseconds{1};  // age of the oldest unsent amount
    HugePages huge_pages = HugePages::Auto;
    std::uint32_t mbufs = 0;     // 0: as many as the queues need
    unsigned held_percent = 25;  // of a pair's buffers: packets that depart later
    std::uint64_t table_keys = std::uint64_t{1} << 20;  // of each worker
    std::string state_dir = "/var/lib/sluice";
    std::string snapshot_file;  // empty: nothing survives a reboot
    Nanoseconds snapshot_every = std::chrono::seconds{10};
    MalformedPolicy malformed = MalformedPolicy::Drop;
    Tunnels tunnels;
    UnitOptions units;
    SocketOptions control{"/run/sluice/sluiced.sock", 0660, "", ""};
    SocketOptions read_only{"", 0660, "", ""};  // without a path: beside `control`, as that one
    SocketOptions dataplane{"/run/sluice/dataplane.sock", 0600, "", ""};
    std::string rules;  // applied where no set was ever applied; relative to sluice.yaml
    OnNoRules on_no_rules = OnNoRules::LastGood;
    std::optional<KernelOptions> kernel;          // nullopt: af_xdp ports end with the process
    std::optional<ManagementOptions> management;  // nullopt: all frames are the box's
    std::optional<ApiOptions> api;                // nullopt: none by TCP
    std::optional<WebOptions> web;                // nullopt: no dashboard
    std::vector<Webhook> notify;                  // in the order of the file
    std::vector<TenantOptions> tenants;           // likewise
    std::optional<ClusterOptions> cluster;        // nullopt: the box shares no limit with others
    std::string user;                             // that sluiced runs as; empty: as it is started
    std::string database_key;  // the file of that key; empty: in the state directory
    LogLevel log_level = LogLevel::Info;
    LogFormat log_format = LogFormat::Text;
};

template <>
inline constexpr auto kConfigKeys<PortConfig> = std::tuple{
    ConfigKey{"device", &PortConfig::device, form::Text{}},
    ConfigKey{"queues", &PortConfig::queues, form::Plain{{1, 64}, "auto or at least 1", "auto"}},
    ConfigKey{"rss", &PortConfig::rss, form::Word{kRssNames}},
};
template <>
inline constexpr auto kConfigKeys<PairConfig> = std::tuple{
    ConfigKey{"name", &PairConfig::name, form::Text{}},
    ConfigKey{"outside", &PairConfig::outside, form::Map{}},
    ConfigKey{"inside", &PairConfig::inside, form::Map{}},
    ConfigKey{"mtu", &PairConfig::mtu, form::Plain{{68, 65'535}, "at least 68"}},  // RFC 791
    ConfigKey{"link_follow", &PairConfig::link_follow, form::Flag{}},
    ConfigKey{"hand_over", &PairConfig::hand_over, form::Flag{}},
};
template <>
inline constexpr auto kConfigKeys<SocketOptions> = std::tuple{
    ConfigKey{"path", &SocketOptions::path, form::Text{}},
    ConfigKey{"mode", &SocketOptions::mode, form::Own{}},
    ConfigKey{"owner", &SocketOptions::owner, form::Text{}},
    ConfigKey{"group", &SocketOptions::group, form::Text{}},
};
template <>
inline constexpr auto kConfigKeys<ApiOptions> = std::tuple{
    BareKey{"listen"},
    ConfigKey{"token_file", &ApiOptions::token_file, form::Text{}},
    ConfigKey{"read_only", &ApiOptions::read_only, form::Flag{}},
};
template <>
inline constexpr auto kConfigKeys<Webhook> = std::tuple{
    ConfigKey{"url", &Webhook::url, form::Text{}},
    ConfigKey{"secret_file", &Webhook::secret_file, form::Text{}},
    ConfigKey{"ca_file", &Webhook::ca_file, form::Text{}},
};
template <>
inline constexpr auto kConfigKeys<ManagementOptions> = std::tuple{
    ConfigKey{"allow", &ManagementOptions::allow, form::Own{}},
    ConfigKey{"to", &ManagementOptions::to, form::Own{}},
    ConfigKey{"rate", &ManagementOptions::rate, form::Rate{{1, 1'000'000}}},
};
template <>
inline constexpr auto kConfigKeys<KernelOptions> = std::tuple{
    ConfigKey{"fail", &KernelOptions::fail, form::Word{kKernelFailNames}},
    ConfigKey{"mode", &KernelOptions::mode, form::Word{kKernelModeNames}},
    ConfigKey{"heartbeat", &KernelOptions::heartbeat,
              form::Time{{std::chrono::milliseconds{5}, std::chrono::minutes{1}},
                         "from 5ms to 1m, such as 100ms"}},
    ConfigKey{"pins", &KernelOptions::pins, form::Text{}},
    ConfigKey{"early_drop", &KernelOptions::early_drop, form::Count{{1, std::uint64_t{1} << 20}}},
};

inline constexpr auto kWatchdogKeys = std::tuple{
    ConfigKey{"stall", &BoxConfig::watchdog_stall,
              form::Time{{std::chrono::milliseconds{1}, std::chrono::hours{1}},
                         "of at least 1ms and at most 1h, such as 1s"}},
    BareKey{"action", true, kWatchdogActions},
};
inline constexpr auto kWorkersKeys = std::tuple{
    ConfigKey{"lcores", &BoxConfig::lcores, form::Text{"auto"}},
    ConfigSection{"watchdog", kWatchdogKeys},
    ConfigKey{"idle_sleep", &BoxConfig::idle_sleep,
              form::Time{{Nanoseconds{0}, std::chrono::milliseconds{100}},
                         "of at most 100ms, such as 100us"}},
};
inline constexpr auto kSnapshotKeys = std::tuple{
    ConfigKey{"file", &BoxConfig::snapshot_file, form::Text{}},
    ConfigKey{"every", &BoxConfig::snapshot_every,
              form::Time{{std::chrono::milliseconds{100}, std::chrono::hours{1}},
                         "from 100ms to 1h, such as 10s"}},
};
inline constexpr auto kTablesKeys = std::tuple{
    ConfigKey{"keys", &BoxConfig::table_keys, form::Count{{1, std::uint64_t{1} << 32}}},
    ConfigKey{"state_dir", &BoxConfig::state_dir, form::Text{}},
    ConfigSection{"snapshot", kSnapshotKeys},
};
inline constexpr auto kMemoryKeys = std::tuple{
    ConfigKey{"hugepages", &BoxConfig::huge_pages, form::Word{kHugePagesNames}},
    ConfigKey{"mbufs", &BoxConfig::mbufs, form::Count{{512, std::uint64_t{1} << 26}}},
    ConfigKey{"held", &BoxConfig::held_percent,
              form::Percent{{1, 90}, "at most 90%: ports receive into the rest"}},
    ConfigSection{"tables", kTablesKeys},
};
inline constexpr auto kPacketsKeys = std::tuple{
    ConfigKey{"malformed", &BoxConfig::malformed, form::Word{kMalformedNames}},
    ConfigKey{"tunnels", &BoxConfig::tunnels, form::Own{}},
    ConfigKey{"", &BoxConfig::units, form::Inline{}},
};
inline constexpr auto kSocketsKeys = std::tuple{
    ConfigKey{"control", &BoxConfig::control, form::Map{}},
    ConfigKey{"read_only", &BoxConfig::read_only, form::Map{}},
    ConfigKey{"dataplane", &BoxConfig::dataplane, form::Map{}},
};
inline constexpr auto kLogKeys = std::tuple{
    ConfigKey{"level", &BoxConfig::log_level, form::Word{kLogLevelNames}},
    ConfigKey{"format", &BoxConfig::log_format, form::Word{kLogFormatNames}},
};
inline constexpr auto kMergeKeys = std::tuple{
    ConfigKey{"interval", &BoxConfig::merge_interval,
              form::Time{{std::chrono::microseconds{10}, std::chrono::seconds{1}},
                         "from 10us to 1s, such as 1ms"}},
};
template <>
inline constexpr auto kConfigKeys<BoxConfig> = std::tuple{
    BareKey{"version"},
    ConfigKey{"ports", &BoxConfig::pairs, form::Own{}},
    ConfigSection{"workers", kWorkersKeys},
    ConfigSection{"memory", kMemoryKeys},
    ConfigSection{"packets", kPacketsKeys},
    ConfigSection{"sockets", kSocketsKeys},
    ConfigKey{"rules", &BoxConfig::rules, form::Text{}},
    ConfigKey{"on_no_rules", &BoxConfig::on_no_rules, form::Word{kOnNoRulesNames}},
    ConfigKey{"user", &BoxConfig::user, form::Text{}},
    ConfigKey{"database_key", &BoxConfig::database_key, form::Text{}},
    ConfigSection{"log", kLogKeys},
    ConfigSection{"merge", kMergeKeys},
    ConfigKey{"management", &BoxConfig::management, form::Map{}},
    ConfigKey{"kernel", &BoxConfig::kernel, form::Map{}},
    BareKey{"api"},
    BareKey{"web"},
    BareKey{"notify"},
    BareKey{"tenants"},
    ConfigKey{"cluster", &BoxConfig::cluster, form::Map{}},
};

inline constexpr std::size_t kMostWebhooks = 16;
inline constexpr std::size_t kMostPairs = 16;  // DPDK has 32 ports
inline constexpr int kBeatsInHeartbeat = 4;    // how often it beats in that time
inline constexpr mode_t kMostSocketMode = 0777;
inline constexpr std::size_t kMostConfigText = 4096;  // a path of Linux

// The name by which DPDK calls the device: its text up to its arguments.
[[nodiscard]] std::string_view bare_device_name(std::string_view device) noexcept;

// The fault by which no box can start; nullopt: none. Every value is in its range and every text
// one that C takes whole, each pair has a name and two devices of its own.
[[nodiscard]] std::optional<std::string> find_fault(const BoxConfig& config);

}  // namespace sluice
