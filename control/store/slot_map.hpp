#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/cluster_options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct redisReply;

namespace sluice {

inline constexpr std::uint16_t kHashSlots = 16'384;

// The slot of a key in a Redis Cluster: CRC16 of its part in braces.
[[nodiscard]] std::uint16_t hash_slot(std::string_view key) noexcept;

// The hash slots of each primary.
class SlotMap {
public:
    [[nodiscard]] static SlotMap all_at(ServerAddress primary);
    // The answer to CLUSTER SLOTS; a node without a host of its own is at that of `asked`.
    [[nodiscard]] static Result<SlotMap> read(const redisReply& reply, const ServerAddress& asked);

    // nullptr: no primary has it.
    [[nodiscard]] const ServerAddress* primary_of(std::uint16_t slot) const noexcept;
    // Each primary once.
    [[nodiscard]] std::vector<ServerAddress> primaries() const;
    [[nodiscard]] bool operator==(const SlotMap&) const = default;

private:
    struct Range {
        std::uint16_t first = 0;
        std::uint16_t last = 0;
        ServerAddress primary;
        [[nodiscard]] bool operator==(const Range&) const = default;
    };
    std::vector<Range> ranges_;
};

// Another node that a node of a Redis Cluster sends a call to: MOVED for good, ASK once.
struct Redirection {
    bool once = false;
    std::optional<ServerAddress> to;  // nullopt: it does not know the host
};
[[nodiscard]] std::optional<Redirection> redirection_of(std::string_view error);

// The answer to SENTINEL GET-MASTER-ADDR-BY-NAME; nullopt: no primary of that name is known.
[[nodiscard]] Result<std::optional<ServerAddress>> sentinel_answer(const redisReply& reply);

}  // namespace sluice
