#pragma once
#include "control/cli/daemon.hpp"
#include "control/cli/replay/frame_source.hpp"
#include "control/cli/replay/replay_rules.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/respond/decision.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace sluice {

// A packet that the running box is asked about, and those of its connection before it.
struct BoxQuestion {
    struct Frame {
        KeptFrame frame;
        Direction dir = Direction::In;
        Nanoseconds age{};  // how long before the packet
    };
    Frame packet;
    std::vector<Frame> before;
};

// The answer of the worker that the packet would come to.
struct BoxAnswer {
    struct Limit {
        bool asked = false;  // else the rest is what the key has
        bool admitted = false;
        bool charged = false;
        bool at_owner = false;  // another worker would be asked
        bool has_bucket = false;
        Units remaining;
        Nanoseconds wait{};  // until the packet's cost fits; kNever
    };
    struct Ban {
        std::uint64_t refusals = 0;
        std::uint64_t after = 0;
        Nanoseconds left{};
    };
    // By the index of the rule, of its limit or key, and of the packet's unit.
    using Place = std::array<std::size_t, 3>;
    std::map<Place, Limit> limits;
    std::map<Place, Ban> bans;
    Decision decision;
    std::vector<Decision> units;  // of several
    std::string generation;
    std::uint32_t lcore = 0;
    bool is_sure = false;
    bool enforces = false;  // there is no panic
};

// `rules` are those in force.
[[nodiscard]] std::variant<BoxAnswer, DaemonRefusal> ask_box(const Options& options,
                                                             const BoxQuestion& question,
                                                             const ReplayRules& rules);

}  // namespace sluice
