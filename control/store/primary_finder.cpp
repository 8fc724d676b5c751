#include "control/store/primary_finder.hpp"

#include "control/store/patience.hpp"
#include "control/store/sync_call.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <hiredis/hiredis.h>

namespace sluice {
namespace {

constexpr std::uint64_t kAskEveryUs = 1'000'000;
constexpr std::uint64_t kHurriedUs = 100'000;

}  // namespace

PrimaryFinder::PrimaryFinder(std::shared_ptr<const StoreAccess> access)
    : access_{std::move(access)} {
    if (!asks()) {
        map_ = SlotMap::all_at(address());
    }
}

const ServerAddress& PrimaryFinder::address() const {
    return access_->addresses[at_ % access_->addresses.size()];
}

void PrimaryFinder::primary_lost(bool worked, std::uint64_t now_us) {
    if (!asks()) {
        at_ = worked ? 0 : at_ + 1;
        map_ = SlotMap::all_at(address());
        ++told_;
        return;
    }
    if (!worked && connection_ && asked_us_ == 0) {
        connection_.reset();
        ++at_;
    }
    next_us_ = std::min(next_us_, now_us + kFirstGapUs);
}

void PrimaryFinder::keep(std::uint64_t now_us, bool hurried) {
    if (!asks()) {
        return;
    }
    if (asked_us_ != 0) {
        if (now_us > asked_us_ + kDeadlineUs) {
            lose({StoreLinkState::Away, "it does not answer"}, now_us);
        }
        return;
    }
    if (hurried && connection_) {
        next_us_ = std::min(next_us_, now_us + kHurriedUs);
    }
    if (now_us >= next_us_) {
        if (!connection_) {
            dial(now_us);
        }
        if (connection_) {
            ask(now_us);
        }
    }
}

void PrimaryFinder::dial(std::uint64_t now_us) {
    Result<RedisConnection> connection = RedisConnection::dial(address(), access_->tls);
    if (!connection) {
        lose({StoreLinkState::Away, connection.error().what}, now_us);
        return;
    }
    connection_ = *std::move(connection);
    unwelcome_.clear();
    const std::string greeting = greeting_of(*access_);
    greets_ = !greeting.empty();
    connection_->send(greeting);
}

void PrimaryFinder::ask(std::uint64_t now_us) {
    connection_->send(access_->cluster_mode
                          ? redis_command(std::array<std::string, 2>{"CLUSTER", "SLOTS"})
                          : redis_command(std::array<std::string, 3>{
                                "SENTINEL", "GET-MASTER-ADDR-BY-NAME", access_->sentinel}));
    asked_us_ = now_us;
    next_us_ = now_us + kAskEveryUs;
}

void PrimaryFinder::lose(StoreFault fault, std::uint64_t now_us) {
    const char* who = access_->cluster_mode ? "node" : "sentinel";
    fault_ = StoreFault{fault.state, fmt::format("{} {}: {}", who, words_of(address()), fault.why)};
    connection_.reset();
    asked_us_ = 0;
    ++at_;
    gap_us_ = std::clamp(2 * gap_us_, kFirstGapUs, kLongestGapUs);
    next_us_ = now_us + gap_us_;
}

void PrimaryFinder::go_on(short ready, std::uint64_t now_us) {
    if (!connection_) {
        return;
    }
    const Result<Done> done = connection_->go_on(ready);
    for (;;) {
        const Result<RedisReplyOwner> reply = connection_->next();
        if (!reply || (*reply != nullptr && asked_us_ == 0)) {
            lose({StoreLinkState::Refused, "it answers what it was not asked"}, now_us);
            return;
        }
        if (*reply == nullptr) {
            break;
        }
        if (std::optional<StoreFault> fault = hear(**reply)) {
            lose(*std::move(fault), now_us);
            return;
        }
    }
    if (!done) {
        lose({StoreLinkState::Away, done.error().what}, now_us);
    }
}

// Sentinels need no password where the store does: a greeting that was refused counts only if the
// question is refused too.
std::optional<StoreFault> PrimaryFinder::refused(std::string_view error) const {
    if (!access_->sentinel.empty() && error.starts_with("ERR unknown command")) {
        return StoreFault{StoreLinkState::Refused, "it is no sentinel"};
    }
    const bool unwelcome = error.starts_with("NOAUTH") && !unwelcome_.empty();
    return store_fault_of(unwelcome ? std::string_view{unwelcome_} : error);
}

std::optional<StoreFault> PrimaryFinder::hear(const redisReply& reply) {
    const bool is_error = reply.type == REDIS_REPLY_ERROR;
    const std::string_view error = is_error ? std::string_view{reply.str, reply.len} : "";
    if (greets_) {
        greets_ = false;
        unwelcome_ = error;
        return std::nullopt;
    }
    if (is_error) {
        return refused(error);
    }
    if (access_->cluster_mode) {
        Result<SlotMap> map = SlotMap::read(reply, address());
        if (!map) {
            return StoreFault{StoreLinkState::Refused, map.error().what};
        }
        map_ = *std::move(map);
    } else {
        Result<std::optional<ServerAddress>> primary = sentinel_answer(reply);
        if (!primary || !*primary) {
            return StoreFault{
                StoreLinkState::Refused,
                primary ? "it knows no primary " + access_->sentinel : primary.error().what};
        }
        map_ = SlotMap::all_at(**std::move(primary));
    }
    asked_us_ = 0;
    gap_us_ = 0;
    ++told_;
    fault_.reset();
    return std::nullopt;
}

}  // namespace sluice
