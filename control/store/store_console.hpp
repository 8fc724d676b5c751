#pragma once
#include "control/store/slot_map.hpp"
#include "control/store/store_access.hpp"
#include "control/store/sync_call.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// One conversation with a server of the store for people: a command, its reply, each waited for.
class StoreConsole {
public:
    // Greeted with the user and password. An Error, unless it says Unreachable, is of the greeting.
    [[nodiscard]] static Result<StoreConsole> open(const ServerAddress& address,
                                                   const StoreAccess& access);
    // The reply may be an error of the server.
    [[nodiscard]] Result<RedisReplyOwner> say(const std::string& command);
    // An Error says what the store says against it.
    [[nodiscard]] Result<RedisReplyOwner> ask(const std::string& command);
    [[nodiscard]] Result<std::string> ask_text(std::span<const std::string> words);
    // One of the functions, by the script where the store has none.
    [[nodiscard]] Result<RedisReplyOwner> call(const std::string& name, const std::string& key,
                                               std::span<const std::string> arguments);
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] CallBy by() const noexcept { return by_; }

private:
    StoreConsole(RedisConnection connection, std::string name)
        : connection_{std::move(connection)}, name_{std::move(name)} {}
    [[nodiscard]] Result<RedisReplyOwner> heard(Result<RedisReplyOwner> reply) const;

    RedisConnection connection_;
    std::string name_;
    CallBy by_ = CallBy::Function;
};

// Conversations with all primaries of the store, found as sluice-store finds them.
class StoreConsoles {
public:
    [[nodiscard]] static Result<StoreConsoles> open(StoreAccess access);

    [[nodiscard]] Result<StoreConsole*> of_key(const std::string& key);
    [[nodiscard]] Result<std::vector<StoreConsole*>> all();
    [[nodiscard]] Result<RedisReplyOwner> call(const std::string& name, const std::string& key,
                                               std::span<const std::string> arguments);
    [[nodiscard]] std::uint16_t partitions() const noexcept {
        return access_.cluster_mode ? kMostStorePartitions : kStorePartitions;
    }

private:
    StoreConsoles(StoreAccess access, SlotMap map)
        : access_{std::move(access)}, map_{std::move(map)} {}
    [[nodiscard]] Result<StoreConsole*> of(const ServerAddress& address);

    StoreAccess access_;
    SlotMap map_;
    std::map<std::string, StoreConsole> consoles_;  // by their names
};

// Addresses that answer, and say that they are primaries.
[[nodiscard]] std::vector<ServerAddress> primaries_among(const StoreAccess& access);

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
    std::string secret;      // digest of the secret of its boxes; empty: nobody has said one
    std::vector<RosterSlot> slots;
};
[[nodiscard]] Result<StoreRoster> read_roster(StoreConsoles& consoles, const std::string& cluster);
// Keys of one partition; 0 where it has not begun.
[[nodiscard]] Result<std::uint64_t> keys_of(StoreConsoles& consoles, const std::string& cluster,
                                            std::uint16_t partition);

}  // namespace sluice
