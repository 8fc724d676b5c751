#include "control/store/store_console.hpp"

#include "control/store/store_fault.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <poll.h>

namespace sluice {
namespace {

constexpr int kPatienceMs = 5'000;

Error unanswered(const std::string& address, const std::string& why) {
    return {Errc::Unreachable, fmt::format("{}: {}", address, why)};
}

std::uint64_t number_at(const redisReply& reply, std::size_t at) {
    const bool there = reply.type == REDIS_REPLY_ARRAY && at < reply.elements &&
                       reply.element[at]->type == REDIS_REPLY_INTEGER;
    return there && reply.element[at]->integer > 0
               ? static_cast<std::uint64_t>(reply.element[at]->integer)
               : 0;
}

std::string text_at(const redisReply& reply, std::size_t at) {
    const bool there = reply.type == REDIS_REPLY_ARRAY && at < reply.elements &&
                       reply.element[at]->type == REDIS_REPLY_STRING;
    return there ? std::string{reply.element[at]->str,
                               static_cast<std::size_t>(reply.element[at]->len)}
                 : std::string{};
}

bool is_primary(StoreConsole& console) {
    const Result<std::string> role =
        console.ask_text(std::array<std::string, 2>{"INFO", "replication"});
    return role && info_value(*role, "role") == "master";
}

// The first address that is a primary, else the first that answers.
Result<SlotMap> find_among(const StoreAccess& access) {
    std::optional<ServerAddress> found;
    Error latest{Errc::Unreachable, "the store has no address"};
    for (const ServerAddress& address : access.addresses) {
        Result<StoreConsole> console = StoreConsole::open(address, access);
        if (!console) {
            latest = console.error();
            if (latest.code != Errc::Unreachable) {
                return latest;
            }
            continue;
        }
        if (is_primary(*console)) {
            return SlotMap::all_at(address);
        }
        found = found.value_or(address);
    }
    return found ? Result<SlotMap>{SlotMap::all_at(*found)} : latest;
}

Result<SlotMap> told_by(StoreConsole& console, const ServerAddress& address,
                        const StoreAccess& access) {
    if (access.cluster_mode) {
        const Result<RedisReplyOwner> reply =
            console.ask(redis_command(std::array<std::string, 2>{"CLUSTER", "SLOTS"}));
        return reply ? SlotMap::read(**reply, address) : reply.error();
    }
    const Result<RedisReplyOwner> reply = console.ask(redis_command(
        std::array<std::string, 3>{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", access.sentinel}));
    if (!reply) {
        return reply.error();
    }
    Result<std::optional<ServerAddress>> primary = sentinel_answer(**reply);
    if (!primary || !*primary) {
        return Error{Errc::Refused, fmt::format("{}: the sentinel knows no primary {}",
                                                console.name(), access.sentinel)};
    }
    return SlotMap::all_at(**std::move(primary));
}

// The first sentinel or node that says where primaries are.
Result<SlotMap> ask_among(const StoreAccess& access) {
    Error latest{Errc::Unreachable, "the store has no address"};
    StoreAccess unknown = access;
    for (const ServerAddress& address : access.addresses) {
        Result<StoreConsole> console = StoreConsole::open(address, access);
        if (!console && console.error().code != Errc::Unreachable && !access.sentinel.empty()) {
            unknown.password.clear();  // sentinels may need none
            console = StoreConsole::open(address, unknown);
        }
        Result<SlotMap> map =
            console ? told_by(*console, address, access) : Result<SlotMap>{console.error()};
        if (map) {
            return map;
        }
        latest = map.error();
    }
    return latest;
}

}  // namespace

Result<StoreConsole> StoreConsole::open(const ServerAddress& address, const StoreAccess& access) {
    Result<RedisConnection> connection = RedisConnection::dial(address, access.tls);
    if (!connection) {
        return unanswered(words_of(address), connection.error().what);
    }
    StoreConsole console{*std::move(connection), words_of(address)};
    if (const std::string greeting = greeting_of(access); !greeting.empty()) {
        if (const Result<RedisReplyOwner> done = console.ask(greeting); !done) {
            return done.error();
        }
    }
    return console;
}

Result<RedisReplyOwner> StoreConsole::say(const std::string& command) {
    connection_.send(command);
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds{kPatienceMs};
    for (short ready = 0;;) {
        const Result<Done> done = connection_.go_on(ready);
        Result<RedisReplyOwner> reply = connection_.next();
        if (!reply || *reply != nullptr) {
            return reply;
        }
        if (!done) {
            return unanswered(name_, done.error().what);
        }
        pollfd waited{.fd = connection_.fd(), .events = connection_.events(), .revents = 0};
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            until - std::chrono::steady_clock::now());
        if (left.count() <= 0 || ::poll(&waited, 1, static_cast<int>(left.count())) == 0) {
            return unanswered(name_, "it does not answer");
        }
        ready = waited.revents;
    }
}

Result<RedisReplyOwner> StoreConsole::heard(Result<RedisReplyOwner> reply) const {
    if (!reply || error_of(**reply).empty()) {
        return reply;
    }
    return Error{Errc::Refused, name_ + ": " + store_fault_of(error_of(**reply)).why};
}

Result<RedisReplyOwner> StoreConsole::ask(const std::string& command) {
    return heard(say(command));
}

Result<RedisReplyOwner> StoreConsole::call(const std::string& name, const std::string& key,
                                           std::span<const std::string> arguments) {
    Result<RedisReplyOwner> reply = say(call_command(by_, name, key, arguments));
    if (!reply || by_ == CallBy::Script || !lacks_functions(error_of(**reply))) {
        return heard(std::move(reply));
    }
    Result<RedisReplyOwner> again = ask(call_command(CallBy::Script, name, key, arguments));
    by_ = again ? CallBy::Script : by_;
    return again || lacks_right(error_of(**reply)) ? std::move(again) : heard(std::move(reply));
}

Result<std::string> StoreConsole::ask_text(std::span<const std::string> words) {
    const Result<RedisReplyOwner> reply = ask(redis_command(words));
    if (!reply) {
        return reply.error();
    }
    const redisReply& text = **reply;
    return text.str == nullptr ? std::string{}
                               : std::string{text.str, static_cast<std::size_t>(text.len)};
}

long long integer_of(const redisReply& reply) noexcept {
    return reply.type == REDIS_REPLY_INTEGER ? reply.integer : 0;
}

Result<StoreConsoles> StoreConsoles::open(StoreAccess access) {
    const bool asks = access.cluster_mode || !access.sentinel.empty();
    Result<SlotMap> map = asks ? ask_among(access) : find_among(access);
    if (!map) {
        return map.error();
    }
    return StoreConsoles{std::move(access), *std::move(map)};
}

Result<StoreConsole*> StoreConsoles::of(const ServerAddress& address) {
    const auto found = consoles_.find(words_of(address));
    if (found != consoles_.end()) {
        return &found->second;
    }
    Result<StoreConsole> console = StoreConsole::open(address, access_);
    if (!console) {
        return console.error();
    }
    return &consoles_.emplace(words_of(address), *std::move(console)).first->second;
}

Result<StoreConsole*> StoreConsoles::of_key(const std::string& key) {
    const ServerAddress* address = map_.primary_of(hash_slot(key));
    return address != nullptr
               ? of(*address)
               : Error{Errc::Refused, "no primary of the Redis Cluster has the slot of " + key};
}

Result<std::vector<StoreConsole*>> StoreConsoles::all() {
    std::vector<StoreConsole*> all;
    for (const ServerAddress& address : map_.primaries()) {
        const Result<StoreConsole*> console = of(address);
        if (!console) {
            return console.error();
        }
        all.push_back(*console);
    }
    return all;
}

Result<RedisReplyOwner> StoreConsoles::call(const std::string& name, const std::string& key,
                                            std::span<const std::string> arguments) {
    const Result<StoreConsole*> console = of_key(key);
    return console ? (*console)->call(name, key, arguments) : console.error();
}

std::vector<ServerAddress> primaries_among(const StoreAccess& access) {
    std::vector<ServerAddress> primaries;
    for (const ServerAddress& address : access.addresses) {
        Result<StoreConsole> console = StoreConsole::open(address, access);
        if (console && is_primary(*console)) {
            primaries.push_back(address);
        }
    }
    return primaries;
}

Result<StoreRoster> read_roster(StoreConsoles& consoles, const std::string& cluster) {
    const Result<RedisReplyOwner> reply = consoles.call("sl1_status", roster_key(cluster), {});
    if (!reply) {
        return reply.error();
    }
    const redisReply& told = **reply;
    StoreRoster roster{.utc_us = number_at(told, 0),
                       .revision = number_at(told, 1),
                       .size = number_at(told, 2),
                       .secret = text_at(told, 3),
                       .slots = {}};
    for (std::size_t i = 4; told.type == REDIS_REPLY_ARRAY && i < told.elements; ++i) {
        const redisReply& slot = *told.element[i];
        roster.slots.push_back({.slot = number_at(slot, 0),
                                .node = text_at(slot, 1),
                                .incarnation = number_at(slot, 2),
                                .seen_us = number_at(slot, 4)});
    }
    std::ranges::sort(roster.slots, {}, &RosterSlot::slot);
    return roster;
}

Result<std::uint64_t> keys_of(StoreConsoles& consoles, const std::string& cluster,
                              std::uint16_t partition) {
    const Result<RedisReplyOwner> reply =
        consoles.call("sl1_status", partition_key(cluster, partition), {});
    if (!reply) {
        return reply.error();
    }
    return number_at(**reply, 5);
}

}  // namespace sluice
