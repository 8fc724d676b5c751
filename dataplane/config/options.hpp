#pragma once
#include "lib/base/log.hpp"
#include "lib/base/result.hpp"
#include "lib/packet/rss.hpp"
#include "lib/pipeline/core_state.hpp"
#include "lib/wire/socket.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

enum class HugePages : std::uint8_t { Auto, Required, None };

struct SideOptions {
    std::string device;              // PCI address, or vdev with its arguments
    std::optional<unsigned> queues;  // nullopt: as many as workers, if the port spreads by RSS
    Rss rss = Rss::Source;
};

struct PairOptions {
    std::string name;
    SideOptions outside;
    SideOptions inside;
    std::optional<std::uint16_t> mtu;
    bool link_follow = true;
    bool hand_over = true;  // between workers, where the ports do not spread frames as asked
};

struct DataplaneOptions {
    std::vector<PairOptions> pairs;
    std::string lcores;  // DPDK's --lcores; empty: main on CPU 0, one worker on the next
    HugePages huge_pages = HugePages::Auto;
    unsigned memory_mb = 0;                          // 0: what pools and rings need
    std::uint32_t mbufs = 0;                         // 0: what the queues need
    std::size_t table_keys = std::size_t{1} << 20;   // per worker
    std::chrono::microseconds merge_interval{1000};  // how old an amount may get before it is sent
    PacketPolicy policy;
    SocketOptions socket{"/run/sluice/dataplane.sock", 0660, "", ""};
    std::string state_dir = "/var/lib/sluice";
    std::string snapshot_file;  // empty: nothing survives a reboot
    std::chrono::milliseconds snapshot_every{10'000};
    std::chrono::milliseconds watchdog_stall{1000};
    std::chrono::microseconds idle_sleep{0};  // 0: workers poll without pause
    LogLevel log_level = LogLevel::Info;
    std::vector<std::string> eal;  // passed on after our own
};

// What the command line asks for.
struct CommandLine {
    enum class Kind : std::uint8_t { Run, Help, Version, Config, Forget };
    Kind kind = Kind::Run;
    DataplaneOptions options;
    std::string config;             // of Config: the file that --config names
    std::vector<std::string> rest;  // of Config: everything else, in order
};

[[nodiscard]] Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

[[nodiscard]] std::string usage();

}  // namespace sluice
