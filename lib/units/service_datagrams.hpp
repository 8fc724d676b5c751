#pragma once
#include "lib/conn/datagram_assembly.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/pipeline/fragment_follower.hpp"
#include "lib/rules/verdict.hpp"

#include <cstdint>

// Datagrams of UDP to enforced services that come in IP fragments.
namespace sluice {

// A fragment's meaning to the service of its datagram.
struct FragmentReading {
    enum class What : std::uint8_t {
        NotMine,  // its first fragment went to no service, or has not come
        Passes,   // parts are to come, or it is a copy of what was forwarded
        Read,     // it completes a datagram: it has the verdict of the units in `payload`
        Follows,  // it is a copy of what completes a datagram of this burst
        Refused,  // for `why`
    };
    What what = What::NotMine;
    Reason why = Reason::Unmatched;
    std::uint64_t datagram = 0;  // of Read and Follows: what settle() and is_refused() are told
    std::uint16_t sport = 0;     // of Read: of its header of UDP
    std::uint16_t dport = 0;
    ByteView payload;  // behind that header, until the next call
};

// One worker's. It neither allocates nor waits.
class ServiceDatagrams {
public:
    explicit ServiceDatagrams(const AssemblyBudget& budget) : assembly_{budget} {}

    // A fragment. `of_service`: it is a first one, and its ports are those of an enforced service
    // over UDP. Those of a datagram whose first one was such are known without.
    [[nodiscard]] FragmentReading take(const FragmentSource& fragment, bool of_service,
                                       bool verifies_checksums) noexcept;
    // The fate of the fragment that completed the datagram.
    void settle(std::uint64_t datagram, bool forwarded) noexcept {
        assembly_.settle(datagram, forwarded);
    }
    [[nodiscard]] bool is_refused(std::uint64_t datagram) const noexcept {
        return assembly_.is_refused(datagram);
    }

private:
    DatagramAssembly assembly_;
};

}  // namespace sluice
