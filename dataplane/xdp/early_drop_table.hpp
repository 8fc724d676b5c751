#pragma once
#include "dataplane/xdp/network_ends.hpp"
#include "dataplane/xdp/port_maps.h"
#include "lib/base/result.hpp"
#include "lib/wire/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

// A network that the program of a port drops, and the row that it is counted in.
struct EarlyDrop {
    sluice_network network{};
    sluice_drop drop{};
};

// Networks that the program of one port drops before they cost the box anything. All are exchanged
// at one instant; counters only grow.
class EarlyDropTable {
public:
    EarlyDropTable() = default;
    // For so many networks.
    [[nodiscard]] static Result<EarlyDropTable> make(std::size_t most);

    // For the program. -1: there is no table.
    [[nodiscard]] int networks_fd() const noexcept { return networks_.get(); }
    [[nodiscard]] int counts_fd() const noexcept { return counts_.get(); }

    // Drops only these, from its return on. Where the kernel has no room for all of them, the
    // others are left to the box; where it has none for any, so are all. How many are in it.
    std::size_t publish(std::span<const EarlyDrop> drops);
    // One more, in the place of some that have ended by `now` (CLOCK_MONOTONIC, ns) where it needs
    // one. False: there is no room, or all of it passes, and it is left to the box.
    [[nodiscard]] bool add(const EarlyDrop& drop, std::uint64_t now);
    // Nothing of it is dropped any more, whether it was in it or not, unless a wider network is.
    // An entry that passes goes on passing.
    void remove(const sluice_network& network);
    // Gives back the places of `most` networks at most that have ended by `now`; what is dropped
    // stays the same.
    void remove_ended(std::uint64_t now, std::size_t most);
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // Entries out of the kernel's own map.
    struct Found {
        std::vector<EarlyDrop> drops;
        bool more = false;   // there are others, beyond those that were asked for
        bool whole = false;  // the whole map was read, as far as it could hold one
    };
    // Entries that the network lies in, the narrowest first, and behind them those that lie in it:
    // `most` at most. Of a network that is wide, those among the first kMostRead of the map.
    [[nodiscard]] Found find(const sluice_network& network, std::size_t most) const;
    static constexpr std::size_t kMostRead = std::size_t{1} << 16;
    // The count of a row, over all CPUs.
    [[nodiscard]] sluice_drop_count count(std::uint32_t row) const;

private:
    void clear();
    [[nodiscard]] static bool put(const EarlyDrop& drop, int networks, std::size_t& places);
    [[nodiscard]] bool passes(const sluice_network& network) const;
    [[nodiscard]] std::optional<EarlyDrop> around(const sluice_network& network) const;
    void ask_inside(const sluice_network& network, std::size_t most, Found& found) const;
    void read_inside(const sluice_network& network, std::size_t most, Found& found) const;
    void erase(const sluice_network& network);
    void note_end(const EarlyDrop& drop);
    [[nodiscard]] bool ends_so(const NetworkEnds::End& end) const;

    Fd networks_;  // a map of one map
    Fd now_;       // which is this one, unless it is empty
    Fd counts_;
    std::size_t most_ = 0;
    std::size_t size_ = 0;
    NetworkEnds ends_;
    unsigned cpus_ = 0;
};

}  // namespace sluice
