#pragma once
#include "lib/policy/yaml/map_reader.hpp"

#include <array>

// The same of sluice.yaml.
namespace sluice::box_keys {

inline constexpr auto kTop = std::to_array<KeyRow>({{"version"},
                                                    {"ports"},
                                                    {"workers"},
                                                    {"memory"},
                                                    {"packets"},
                                                    {"sockets"},
                                                    {"rules"},
                                                    {"on_no_rules"},
                                                    {"user"},
                                                    {"database_key"},
                                                    {"log"},
                                                    {"merge"},
                                                    {"management"},
                                                    {"kernel"},
                                                    {"api"},
                                                    {"cluster", false}});
inline constexpr auto kMerge = std::to_array<KeyRow>({{"interval"}});
inline constexpr auto kWorkers = std::to_array<KeyRow>({{"lcores"}, {"watchdog"}, {"idle_sleep"}});
inline constexpr auto kWatchdog = std::to_array<KeyRow>({{"stall"}, {"action"}});
inline constexpr auto kMemory =
    std::to_array<KeyRow>({{"hugepages"}, {"mbufs"}, {"held"}, {"tables"}});
inline constexpr auto kTables = std::to_array<KeyRow>({{"keys"}, {"state_dir"}, {"snapshot"}});
inline constexpr auto kSnapshot = std::to_array<KeyRow>({{"file"}, {"every"}});
inline constexpr auto kSockets = std::to_array<KeyRow>({{"control"}, {"read_only"}, {"dataplane"}});
inline constexpr auto kSocket = std::to_array<KeyRow>({{"path"}, {"mode"}, {"owner"}, {"group"}});
inline constexpr auto kLog = std::to_array<KeyRow>({{"level"}, {"format"}});
inline constexpr auto kApi = std::to_array<KeyRow>({{"listen"}, {"token_file"}, {"read_only"}});
inline constexpr auto kManagement = std::to_array<KeyRow>({{"allow"}, {"to"}, {"rate"}});
inline constexpr auto kKernel =
    std::to_array<KeyRow>({{"fail"}, {"mode"}, {"heartbeat"}, {"pins"}, {"early_drop"}});
inline constexpr auto kPort = std::to_array<KeyRow>({{"device"}, {"queues"}, {"rss"}});
inline constexpr auto kConnections =
    std::to_array<KeyRow>({{"max"}, {"head_bytes"}, {"timeout"}, {"when_full"}});
inline constexpr auto kFragments = std::to_array<KeyRow>({{"policy"}, {"table"}, {"timeout"}});
inline constexpr auto kHttp = std::to_array<KeyRow>({{"on_ambiguous"}});
inline constexpr auto kQuicInitials = std::to_array<KeyRow>({{"budget"}});
inline constexpr auto kPackets = std::to_array<KeyRow>(
    {{"malformed"}, {"tunnels"}, {"fragments"}, {"connections"}, {"http"}, {"quic_initials"}});
inline constexpr auto kPair = std::to_array<KeyRow>(
    {{"name"}, {"outside"}, {"inside"}, {"mtu"}, {"link_follow"}, {"hand_over"}});

}  // namespace sluice::box_keys
