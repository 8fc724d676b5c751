#pragma once
#include "dataplane/io/lane.hpp"
#include "dataplane/port/link_watch.hpp"
#include "dataplane/port/port.hpp"
#include "dataplane/port/rss_keys.hpp"
#include "dataplane/state/kept_ports.hpp"
#include "lib/base/result.hpp"
#include "lib/packet/toeplitz.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/rules/port_rss_mapping.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The started pairs of ports, in the order of the box, and the keys by which frames are spread over
// workers. Workers read a pair while they run: it stays where it is until ~Ports() stops it. A port
// is started anew only while none of them may use it (link_watch.cpp).
class Ports {
public:
    // Changes at interfaces are kept in the state directory.
    Ports(const RssKeys& keys, const std::string& state_dir);
    ~Ports();
    Ports(const Ports&) = delete;
    Ports& operator=(const Ports&) = delete;

    // Before anything is done to an interface: it is no other port's, of this box or another
    // dataplane, and what a process before this one has left changed is taken back.
    [[nodiscard]] Result<Done> hold(const BoxConfig& box);
    // Starts the ports that are held. An Error says what one of them cannot do.
    [[nodiscard]] Result<Done> start(const BoxConfig& box, std::size_t workers);
    // Brings each side in line with the link of the other, and reads the MTUs that are there; on
    // the board workers say what they have let go of.
    void watch(QuiesceBoard& board);

    [[nodiscard]] const std::vector<std::unique_ptr<PortPair>>& pairs() const noexcept {
        return pairs_;
    }
    [[nodiscard]] const std::vector<PairQueues>& queues() const noexcept { return queues_; }
    [[nodiscard]] const PortPair& pair_of(const Lane& lane) const;
    // The hash that software spreads frames by: the one of the ports, under the same key.
    [[nodiscard]] const Toeplitz& hash_of(Rss how) const noexcept {
        return how == Rss::Symmetric ? symmetric_hash_ : hash_;
    }
    // The worker that a frame is to be judged by, of what comes in at one side of a pair (by its
    // place): by the port's RSS, or handed over. nullopt: only the port knows.
    [[nodiscard]] std::optional<std::size_t> receiver_of(const FrameView& frame, std::size_t pair,
                                                         Direction dir, std::size_t workers) const;
    // How frames come from each port to workers, for the compiler of rules.
    [[nodiscard]] std::vector<PortRssMapping> rss_mapping(std::size_t workers) const;
    // The name of the pair with this port_name(); empty: there is none.
    [[nodiscard]] std::string pair_called(std::uint64_t port_name_of_pair) const;

private:
    [[nodiscard]] Result<Done> start_pair(const BoxConfig& box, std::size_t index,
                                          std::size_t workers);
    void take_up_kept();
    [[nodiscard]] Port* port_at(const Netdev& netdev);
    void keep();

    std::vector<std::unique_ptr<PortPair>> pairs_;
    std::vector<PairQueues> queues_;  // by pair
    KeptPorts kept_;
    std::vector<KeptPort> last_kept_;
    std::vector<KeptPort> left_changed_;  // no ports of ours, and not to be restored yet
    bool told_unkept_ = false;            // that they could not be kept, said once
    RssKeys keys_;
    Toeplitz hash_;
    Toeplitz symmetric_hash_;
};

}  // namespace sluice
