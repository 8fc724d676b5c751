#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/problems/problem.hpp"

#include <sys/types.h>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// sluice.yaml: the box itself (ports, cores, memory, sockets). Policy lives in the rule file.
struct BoxPort {
    std::string device;              // DPDK device: PCI address or vdev with its arguments
    std::optional<unsigned> queues;  // nullopt: auto
    std::string rss = "source";  // source | source_prefix | destination | symmetric | five_tuple
};
struct BoxPair {
    std::string name;
    BoxPort outside;
    BoxPort inside;
    std::optional<std::uint16_t> mtu;  // nullopt: leave the ports' own
    bool link_follow = true;           // a side that goes down takes the other down
    bool hand_over = true;  // workers pass frames on where the ports do not spread them as asked
};
struct BoxSocket {
    std::string path;
    mode_t mode = 0660;
    std::string owner;
    std::string group;
};
struct Box {
    std::vector<BoxPair> pairs;
    std::string lcores = "auto";
    std::chrono::milliseconds watchdog_stall{1000};
    std::chrono::microseconds merge_interval{1000};
    std::string hugepages = "auto";      // auto | required | none
    std::uint64_t mbufs = 0;             // 0: as many as the queues need
    std::uint64_t table_keys = 1 << 20;  // per worker
    std::string state_dir = "/var/lib/sluice";
    std::string snapshot_file;  // empty: none is written
    std::chrono::milliseconds snapshot_every{10'000};
    std::string malformed = "drop";  // drop | pass
    bool tunnel_gre = false;
    bool tunnel_vxlan = false;
    bool tunnel_ipip = false;
    BoxSocket control{"/run/sluice/sluiced.sock", 0660, "", ""};
    BoxSocket dataplane{"/run/sluice/dataplane.sock", 0660, "", ""};
    std::string rules;  // rule file to load when none was applied yet; relative to sluice.yaml
    std::string log_level = "info";
    std::string log_format = "text";
};

// Strict, like the rule file: unknown and duplicate keys, wrong types and bare numbers are errors
// with line and column; what is not built yet is `not enforced yet` (warning or error by
// `purpose`).
[[nodiscard]] std::optional<Box> read_box(const RuleText& source, Purpose purpose,
                                          Problems& problems);

}  // namespace sluice
