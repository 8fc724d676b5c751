#pragma once
#include "control/store/store_access.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// One conversation with the store for people: a command, its reply, each waited for.
class StoreConsole {
public:
    // The first address that answers, greeted with the user and password.
    [[nodiscard]] static Result<StoreConsole> open(const StoreAccess& access);
    // An Error says what the store says against it.
    [[nodiscard]] Result<RedisReplyOwner> ask(const std::string& command);
    [[nodiscard]] Result<std::string> ask_text(std::span<const std::string> words);
    [[nodiscard]] const std::string& address() const noexcept { return address_; }

private:
    StoreConsole(RedisConnection connection, std::string address)
        : connection_{std::move(connection)}, address_{std::move(address)} {}
    RedisConnection connection_;
    std::string address_;
};

// The whole number that a reply is; else 0.
[[nodiscard]] long long integer_of(const redisReply& reply) noexcept;

struct RosterSlot {
    std::uint64_t slot = 0;
    std::string node;
    std::uint64_t incarnation = 0;
    std::uint64_t seen_us = 0;  // UTC of the store
};
struct StoreRoster {
    std::uint64_t utc_us = 0;
    std::uint64_t revision = 0;
    std::uint64_t size = 0;  // 0: nobody has joined yet
    std::vector<RosterSlot> slots;
};
[[nodiscard]] Result<StoreRoster> read_roster(StoreConsole& console, const std::string& cluster);
// Keys of one partition; 0 where it has not begun.
[[nodiscard]] Result<std::uint64_t> keys_of(StoreConsole& console, const std::string& cluster,
                                            std::uint16_t partition);

}  // namespace sluice
