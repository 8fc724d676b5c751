#include "control/store/store_console.hpp"

#include <algorithm>
#include <array>
#include <chrono>

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

Result<RedisReplyOwner> status_of(StoreConsole& console, const std::string& key) {
    return console.ask(redis_command(std::array<std::string, 4>{"FCALL", "sl1_status", "1", key}));
}

Result<StoreConsole> greeted(StoreConsole console, const StoreAccess& access) {
    if (!access.password.empty()) {
        std::vector<std::string> words{"AUTH"};
        if (!access.user.empty()) {
            words.push_back(access.user);
        }
        words.push_back(access.password);
        if (const Result<std::string> done = console.ask_text(words); !done) {
            return done.error();
        }
    }
    return console;
}

}  // namespace

Result<StoreConsole> StoreConsole::open(const StoreAccess& access) {
    Error latest{Errc::Unreachable, "the store has no address"};
    for (const ServerAddress& address : access.addresses) {
        const std::string name = fmt::format("{}:{}", address.host, address.port);
        Result<RedisConnection> connection = RedisConnection::dial(address, access.tls);
        if (!connection) {
            latest = unanswered(name, connection.error().what);
            continue;
        }
        Result<StoreConsole> console = greeted(StoreConsole{*std::move(connection), name}, access);
        if (console || console.error().code != Errc::Unreachable) {
            return console;
        }
        latest = console.error();
    }
    return latest;
}

Result<RedisReplyOwner> StoreConsole::ask(const std::string& command) {
    connection_.send(command);
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds{kPatienceMs};
    for (short ready = 0;;) {
        const Result<Done> done = connection_.go_on(ready);
        Result<RedisReplyOwner> reply = connection_.next();
        if (!reply || *reply != nullptr) {
            const bool refused = reply && (*reply)->type == REDIS_REPLY_ERROR;
            return refused ? Result<RedisReplyOwner>{Error{
                                 Errc::Refused,
                                 address_ + ": " +
                                     store_fault_of(
                                         {(*reply)->str, static_cast<std::size_t>((*reply)->len)})
                                         .why}}
                           : std::move(reply);
        }
        if (!done) {
            return unanswered(address_, done.error().what);
        }
        pollfd waited{.fd = connection_.fd(), .events = connection_.events(), .revents = 0};
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            until - std::chrono::steady_clock::now());
        if (left.count() <= 0 || ::poll(&waited, 1, static_cast<int>(left.count())) == 0) {
            return unanswered(address_, "it does not answer");
        }
        ready = waited.revents;
    }
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

Result<StoreRoster> read_roster(StoreConsole& console, const std::string& cluster) {
    const Result<RedisReplyOwner> reply = status_of(console, roster_key(cluster));
    if (!reply) {
        return reply.error();
    }
    const redisReply& told = **reply;
    StoreRoster roster{.utc_us = number_at(told, 0),
                       .revision = number_at(told, 1),
                       .size = number_at(told, 2),
                       .slots = {}};
    for (std::size_t i = 3; told.type == REDIS_REPLY_ARRAY && i < told.elements; ++i) {
        const redisReply& slot = *told.element[i];
        roster.slots.push_back({.slot = number_at(slot, 0),
                                .node = text_at(slot, 1),
                                .incarnation = number_at(slot, 2),
                                .seen_us = number_at(slot, 4)});
    }
    std::ranges::sort(roster.slots, {}, &RosterSlot::slot);
    return roster;
}

Result<std::uint64_t> keys_of(StoreConsole& console, const std::string& cluster,
                              std::uint16_t partition) {
    const Result<RedisReplyOwner> reply = status_of(console, partition_key(cluster, partition));
    if (!reply) {
        return reply.error();
    }
    return number_at(**reply, 5);
}

}  // namespace sluice
