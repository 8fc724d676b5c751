#include "dataplane/state/kept_connections.hpp"

#include "dataplane/state/region_header.hpp"
#include "lib/bucket/hash/siphash.hpp"

#include <cstddef>
#include <cstring>

#include <unistd.h>

namespace sluice {
namespace {

constexpr std::array<char, 8> kConnectionsMagic{'S', 'L', 'U', 'I', 'C', 'E', 'C', 'N'};
// Raised whenever a line of a connection or anything beside it changes its form or its meaning.
constexpr std::uint64_t kConnectionsLayout = 6;

}  // namespace

KeptConnections::Header KeptConnections::header_of(const ConnectionsShape& shape) {
    Header header{.magic = kConnectionsMagic,
                  .layout = kConnectionsLayout,
                  .boot_id = this_boot(),
                  .shape = shape};
    const auto* bytes = reinterpret_cast<const std::byte*>(&header);
    header.sum = siphash_1_3(HashSecret{}, ByteView{bytes, offsetof(Header, sum)});
    return header;
}

Result<KeptConnections> KeptConnections::open(const std::string& folder,
                                              const ConnectionsShape& shape) {
    const std::string path = folder + "/connections-" + std::to_string(shape.worker);
    const std::size_t bytes = kHeaderBytes + shape.bytes;
    const Header header = header_of(shape);
    if (Result<Mapping> found = Mapping::open(path, bytes, Mapping::Stores::Kept);
        found && found->is_kept() && std::memcmp(found->data(), &header, sizeof(header)) == 0) {
        return KeptConnections{*std::move(found), shape};
    }
    // Connections that cannot be found again are of no use to anybody.
    (void)::unlink(path.c_str());
    Result<Mapping> made = Mapping::make(path, bytes);
    if (!made) {
        return made.error();
    }
    std::memcpy(made->data(), &header, sizeof(header));
    return KeptConnections{*std::move(made), shape};
}

KeptMemory KeptConnections::memory() const noexcept {
    return {static_cast<std::byte*>(mapping_.data()) + kHeaderBytes, bytes_, mapping_.page_size()};
}

}  // namespace sluice
