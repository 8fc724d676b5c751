#include "lib/policy/databases/mmdb_networks.hpp"
#include "lib/policy/databases/origins_of.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace sluice;

// Any bytes, as a database of either kind: an error with its reason, or tables that are sound.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    for (const DatabaseKind kind : {DatabaseKind::Country, DatabaseKind::Asn}) {
        const Result<DatabaseNetworks> networks = read_mmdb(bytes, kind);
        if (!networks) {
            if (networks.error().what.empty()) {
                std::abort();
            }
            continue;
        }
        const bool country = kind == DatabaseKind::Country;
        Result<OriginParts> parts =
            origins_of(country ? &*networks : nullptr, country ? nullptr : &*networks);
        if (!parts) {
            std::abort();
        }
        parts->asked.add(country ? Field::IpSrcCountry : Field::IpSrcAsn);
        if (!are_sound(*parts)) {
            std::abort();
        }
    }
    return 0;
}
