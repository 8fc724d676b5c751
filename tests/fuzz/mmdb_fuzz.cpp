#include "lib/policy/databases/mmdb_process.hpp"
#include "lib/policy/databases/origins_of.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>

using namespace sluice;

// Any bytes, as the answer of the child process that reads a database of either kind: an error with
// its reason, or tables that are sound and were answered so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteView bytes = std::as_bytes(std::span{data, size});
    for (const DatabaseKind kind : {DatabaseKind::Country, DatabaseKind::Asn}) {
        const Result<DatabaseNetworks> networks = networks_of_answer(bytes, kind);
        if (!networks) {
            if (networks.error().what.empty()) {
                std::abort();
            }
            continue;
        }
        const bool country = kind == DatabaseKind::Country;
        Result<GeoParts> parts =
            origins_of(country ? &*networks : nullptr, country ? nullptr : &*networks);
        if (!parts) {
            std::abort();
        }
        parts->asked.add(country ? Field::IpSrcCountry : Field::IpSrcAsn);
        if (!are_sound(*parts) || answer_of(*networks).size() != bytes.size()) {
            std::abort();
        }
    }
    return 0;
}
