#pragma once
#include "lib/l7/stream/datagram_assembly.hpp"
#include "lib/l7/stream/fragment_follower.hpp"
#include "lib/l7/stream/ip_fragment.hpp"
#include "lib/l7/stream/recent_digests.hpp"
#include "lib/l7/stream/service_packet.hpp"
#include "lib/l7/stream/track/port_checksums.hpp"
#include "lib/l7/stream/track/tracked_segment.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/verdict.hpp"

#include <cstdint>
#include <optional>
#include <span>

// Datagrams of UDP to services that come in IP fragments.
namespace sluice {

// A fragment's meaning to the service of its datagram.
struct FragmentReading {
    enum class What : std::uint8_t {
        NotMine,  // its first fragment went to no service, or has not come
        Passes,   // parts are to come, or it is a copy of what was forwarded
        Read,     // it completes a datagram: it has the verdict of the units of all of it
        Follows,  // it is a copy of what completes a datagram whose verdict is still to come
        Refused,  // for `why`
    };
    What what = What::NotMine;
    Reason why = Reason::Unmatched;
    std::uint16_t service = kNoService;  // of its first fragment; kNoService: NotMine
    std::uint64_t datagram = 0;          // its number, but of NotMine
    DatagramPorts ports;                 // of Read and Follows: of the header of UDP
};

// One worker's. It neither allocates nor waits.
class ServiceDatagrams {
public:
    // Later fragments of UDP have no ports, so those to anybody are noted: of 50,000 in a time-out
    // one first fragment in 10^8 is mistaken for a late one, of a million one in 28.
    static constexpr RecentSize kEarly{.bits = std::size_t{1} << 23, .functions = 6};

    explicit ServiceDatagrams(const AssemblyBudget& budget)
        : assembly_{budget}, early_{budget.timeout, kEarly} {}
    [[nodiscard]] static std::uint64_t memory_of(const AssemblyBudget& budget) noexcept {
        return DatagramAssembly::memory_of(budget) + RecentDigests::memory(kEarly);
    }

    // A fragment. `service`: the one over UDP that a first fragment reaches; kNoService: none.
    // `checksums` by service: where they are verified, wrong ones are refused.
    [[nodiscard]] FragmentReading take(const FragmentSource& fragment, std::uint16_t service,
                                       std::span<const PortChecksums> checksums) noexcept;
    // The payload of a datagram that was Read and is not settled; nullopt: it was given up.
    [[nodiscard]] std::optional<ByteView> payload_of(std::uint64_t datagram) const noexcept;
    // The fate of the fragment that completed the datagram.
    void settle(std::uint64_t datagram, bool forwarded) noexcept {
        assembly_.settle(datagram, forwarded);
    }
    [[nodiscard]] bool is_refused(std::uint64_t datagram) const noexcept {
        return assembly_.is_refused(datagram);
    }

private:
    [[nodiscard]] FragmentReading put_together(const FragmentSource& fragment,
                                               const IpFragment& place,
                                               const PortChecksums& checksums,
                                               FragmentReading reading) noexcept;

    DatagramAssembly assembly_;
    // Later fragments that were forwarded before a first one had come: their server may hold them,
    // and no service reads a datagram of theirs.
    RecentDigests early_;
};

}  // namespace sluice
