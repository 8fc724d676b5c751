#pragma once
#include "dataplane/io/frame_bounds.hpp"
#include "dataplane/port/interface_hold.hpp"
#include "dataplane/port/link_follow.hpp"
#include "dataplane/port/netdev.hpp"
#include "dataplane/port/rss_keys.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/share/core.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct rte_mempool;

namespace sluice {

// How a port is started.
struct PortPlan {
    std::uint16_t queues = 1;
    std::uint16_t mtu = 1500;
    Rss rss = Rss::Source;
    rte_mempool* pool = nullptr;
    const RssKeys* keys = nullptr;
};

// A port of a pair, from its set-up to its end. The main lcore owns it; workers use its queues by
// number and read `up` and `there`.
struct Port {
    // Presence of the interface that it is bound to (link_watch.cpp).
    enum class Presence : std::uint8_t { Here, Leaving, Away };
    static constexpr std::uint16_t kNone = 0xffff;
    std::uint16_t id = kNone;
    std::string pair;
    std::string side;    // "outside" or "inside"
    std::string device;  // as given
    std::string driver;
    std::uint16_t mtu = 0;
    std::uint16_t queues = 0;
    std::optional<Rss> hashes;         // what its RSS hashes; nullopt: it has none at work
    Rss asked = Rss::Source;           // what it was to hash
    bool handed = false;               // workers spread what it receives among themselves
    std::uint64_t table = 0;           // how many entries lead from its hash to queues
    std::vector<InterfaceHold> holds;  // of the interfaces that its device is told to use
    Netdev netdev;                     // the kernel's interface behind it
    // The change to the interface; nullopt: it has none, or one of its own making.
    std::optional<NetdevChange> change;
    FrameBounds takes;
    Counter untagged;      // FrameBounds::untagged, of the MTU that its interface has now
    bool has_mtu = false;  // its interface took the MTU of the plan: `mtu` follows what is there
    Signal up;             // whether frames can leave here
    LinkSettling settling;
    bool held_down = false;  // taken down because the other side of its pair is down
    PortPlan plan;           // that it was started by
    Signal there;            // whether workers may receive from it
    Presence presence = Presence::Here;
    std::uint64_t times_gone = 0;
    std::uint64_t released_at = 0;  // the mark that every worker passes before it is Away
    LinkSettling::Clock::time_point next_try{};

    [[nodiscard]] bool is_here() const noexcept { return presence == Presence::Here; }
};
// True if what its driver holds of a kernel's interface ends with that. Others have one of their
// own (tap, which may be anywhere), or use it besides.
[[nodiscard]] bool is_bound_to_netdev(const Port& port);
// True where the kernel throws frames away that are longer than the MTU of the interface, without a
// word to the driver.
[[nodiscard]] bool loses_longer_frames(const Port& port);
// Before the port is started: what its interface is brought back to. Where a process before has
// changed it, that is what it was before that one, but for what somebody else has set since.
void note_settings(Port& port);
// Before the port is started, so that it can be kept: the MTU that its interface is given.
void will_set_mtu(Port& port, std::uint16_t mtu);
// Notes the MTU that the interface of a started port has now.
void take_mtu(Port& port, std::uint16_t mtu) noexcept;
// The interface as it was before the port. What is changed there still stays noted: also of a port
// that is held_down.
void restore_settings(Port& port);
// For people: its pair, side and device.
[[nodiscard]] std::string title_of(const Port& port);

// The offer of a device, asked once.
struct PortOffer {
    std::uint16_t max_queues = 1;  // receive and transmit both
    bool has_rss = false;
    std::optional<std::uint16_t> mtu;     // as it is now, if it is one that frames feel
    std::uint16_t most_mtu = UINT16_MAX;  // that its driver says it can carry
    int socket = 0;                       // NUMA node
};
[[nodiscard]] PortOffer ask_port(const Port& port);

// The MTU of both ports of a pair: what was asked for, else the one they have. Where they have two,
// the lesser, and no more than both drivers can carry: what one side may send would be lost at the
// other, and a box that refused to start would lose everything, at the next start too where
// somebody has changed one meanwhile.
[[nodiscard]] std::uint16_t choose_mtu(const PairConfig& pair, const PortOffer& outside,
                                       const PortOffer& inside);

// How many queues each port of a pair gets: no more than either offers, than workers, than asked
// for; one where a port cannot spread flows over queues by RSS and nobody asked.
[[nodiscard]] std::uint16_t choose_queues(const PairConfig& pair, const PortOffer& outside,
                                          const PortOffer& inside, std::size_t workers);

// True if workers have to spread a started port's frames among themselves: it gives them to fewer
// than all, or nobody knows how, or it cannot hash what was asked for.
[[nodiscard]] bool hands_over(const Port& port, std::size_t workers) noexcept;

// The interface behind a port, whose driver says that it has this index. One that vanishes while
// the port starts has the name that it was asked for by, or had before: by that it is taken up
// again.
[[nodiscard]] Netdev netdev_behind(const Port& port, unsigned index);

// Configures and starts `port`. Errors say what the port cannot do.
[[nodiscard]] Result<Done> start_port(Port& port, const PortPlan& plan);

void stop_port(const Port& port) noexcept;

}  // namespace sluice
