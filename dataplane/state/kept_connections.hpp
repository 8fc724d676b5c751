#pragma once
#include "dataplane/state/mapping.hpp"
#include "lib/base/result.hpp"
#include "lib/l7/stream/kept_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace sluice {

// Connections of a worker can be found again only by the same numbers: with another one of them
// its memory is made anew.
struct ConnectionsShape {
    std::uint64_t lineage = 0;      // of the tables' secrets and instants
    std::uint64_t rss_mapping = 0;  // how flows are spread over the workers
    std::uint64_t workers = 0;
    std::uint64_t worker = 0;
    std::uint64_t connections = 0;  // for each worker
    std::uint64_t bytes = 0;

    [[nodiscard]] bool operator==(const ConnectionsShape&) const noexcept = default;
};

// One worker's memory for connections of services, in a file of its own beside the tables.
class KeptConnections {
public:
    // The memory that an earlier process left in that folder, or zeroes. An Error: there is no room
    // for it, or it cannot be written.
    [[nodiscard]] static Result<KeptConnections> open(const std::string& folder,
                                                      const ConnectionsShape& shape);
    [[nodiscard]] KeptMemory memory() const noexcept;

private:
    // Written once, before its bytes are used.
    struct Header {
        std::array<char, 8> magic{};
        std::uint64_t layout = 0;
        std::array<char, 40> boot_id{};
        ConnectionsShape shape;
        std::uint64_t sum = 0;  // of all before it
    };
    static_assert(std::has_unique_object_representations_v<Header>, "its sum is over its bytes");
    static constexpr std::size_t kHeaderBytes = 4096;

    KeptConnections(Mapping mapping, const ConnectionsShape& shape)
        : mapping_{std::move(mapping)}, bytes_{shape.bytes} {}
    [[nodiscard]] static Header header_of(const ConnectionsShape& shape);

    Mapping mapping_;
    std::size_t bytes_;
};

}  // namespace sluice
