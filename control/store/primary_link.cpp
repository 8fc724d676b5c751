#include "control/store/primary_link.hpp"

#include "control/store/patience.hpp"

#include <array>
#include <string>
#include <utility>

#include <hiredis/hiredis.h>

namespace sluice {
namespace {

constexpr std::uint64_t kLookEveryUs = 1'000'000;
constexpr const char* kReplicaWaitMs = "50";

std::string command(std::initializer_list<std::string> words) {
    return redis_command(std::vector<std::string>{words});
}

}  // namespace

// Everything that is asked at first goes out at once: where one answer is no, the connection ends.
Result<PrimaryLink> PrimaryLink::dial(const ServerAddress& address, const StoreAccess& access,
                                      Durability durability, std::uint64_t now_us) {
    Result<RedisConnection> connection = RedisConnection::dial(address, access.tls);
    if (!connection) {
        return connection.error();
    }
    PrimaryLink link{*std::move(connection), durability};
    if (const std::string greeting = greeting_of(access); !greeting.empty()) {
        link.say(Call::Auth, greeting, now_us);
    }
    link.look(now_us);
    return link;
}

std::uint64_t PrimaryLink::say(Call call, std::string_view command, std::uint64_t now_us,
                               std::uint16_t partition) {
    connection_.send(command);
    expected_.push_back({call, partition, by_, now_us, ++said_});
    owes_wait_ = owes_wait_ || call == Call::Sync;
    return said_;
}

// Asks for the eviction policy, and for who is primary.
void PrimaryLink::look(std::uint64_t now_us) {
    looked_us_ = now_us;
    say(Call::Memory, command({"INFO", "memory"}), now_us);
    say(Call::Role, command({"INFO", "replication"}), now_us);
}

std::optional<StoreFault> PrimaryLink::keep(std::uint64_t now_us) {
    if (now_us > waits_since(now_us) + kDeadlineUs) {
        return StoreFault{StoreLinkState::Away, "the store does not answer"};
    }
    if (now_us >= looked_us_ + kLookEveryUs) {
        look(now_us);
    }
    // A WAIT holds up all that is behind it, so there is one at a time.
    if (durability_ == Durability::Replica && owes_wait_ && !waits_) {
        owes_wait_ = false;
        waits_ = true;
        say(Call::Wait, command({"WAIT", "1", kReplicaWaitMs}), now_us);
    }
    return std::nullopt;
}

PrimaryLink::Heard PrimaryLink::next() {
    for (;;) {
        Result<RedisReplyOwner> reply = connection_.next();
        if (!reply) {
            return StoreFault{StoreLinkState::Refused, reply.error().what};
        }
        if (*reply == nullptr) {
            return std::monostate{};
        }
        if (expected_.empty()) {
            return StoreFault{StoreLinkState::Refused, "the store answers what it was not asked"};
        }
        const Sent sent = expected_.front();
        expected_.pop_front();
        waits_ = waits_ && sent.call != Call::Wait;
        if (sent.call >= Call::Join) {
            return Answer{sent, *std::move(reply)};
        }
        if (std::optional<StoreFault> fault = hear(sent, **reply)) {
            return *std::move(fault);
        }
    }
}

std::optional<StoreFault> PrimaryLink::hear(const Sent& sent, const redisReply& reply) {
    const std::string_view text =
        reply.str == nullptr ? std::string_view{} : std::string_view{reply.str, reply.len};
    if (reply.type == REDIS_REPLY_ERROR) {
        return store_fault_of(text);
    }
    switch (sent.call) {
        case Call::Memory:
            return memory_fault(text);
        case Call::Role:
            return role_fault(text, durability_);
        default:
            return std::nullopt;
    }
}

}  // namespace sluice
