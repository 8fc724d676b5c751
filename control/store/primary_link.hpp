#pragma once
#include "control/store/store_access.hpp"
#include "control/store/store_fault.hpp"
#include "control/store/sync_call.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <variant>

namespace sluice {

// A connection to one primary of the store: greeted, looked at each second, and given up when it
// does not answer. Calls go out in their order.
class PrimaryLink {
public:
    enum class Call : std::uint8_t { Auth, Memory, Role, Asking, Join, Tick, Sync, Wait };
    struct Sent {
        Call call = Call::Auth;
        std::uint16_t partition = 0;
        CallBy by = CallBy::Function;
        std::uint64_t at_us = 0;
        std::uint64_t number = 0;  // of a WAIT: it is of all calls with lower ones
    };
    struct Answer {
        Sent sent;
        RedisReplyOwner reply;
    };

    [[nodiscard]] static Result<PrimaryLink> dial(const ServerAddress& address,
                                                  const StoreAccess& access, Durability durability,
                                                  std::uint64_t now_us);

    [[nodiscard]] int fd() const noexcept { return connection_.fd(); }
    [[nodiscard]] short events() const noexcept { return connection_.events(); }
    // -> its number
    std::uint64_t say(Call call, std::string_view command, std::uint64_t now_us,
                      std::uint16_t partition = 0);
    // Does what is due: a look, one WAIT behind all that was said. A fault: it does not answer.
    [[nodiscard]] std::optional<StoreFault> keep(std::uint64_t now_us);
    [[nodiscard]] Result<Done> go_on(short ready) { return connection_.go_on(ready); }
    // The next answer that is the caller's; nothing: it has not come; a fault: the link is over.
    using Heard = std::variant<std::monostate, Answer, StoreFault>;
    [[nodiscard]] Heard next();

    // By functions at first; by the script once the store says that it has none.
    [[nodiscard]] CallBy by() const noexcept { return by_; }
    void go_by_script() noexcept { by_ = CallBy::Script; }
    // Since when the oldest call has had no answer.
    [[nodiscard]] std::uint64_t waits_since(std::uint64_t now_us) const noexcept {
        return expected_.empty() ? now_us : expected_.front().at_us;
    }

private:
    PrimaryLink(RedisConnection connection, Durability durability)
        : connection_{std::move(connection)}, durability_{durability} {}
    void look(std::uint64_t now_us);
    [[nodiscard]] std::optional<StoreFault> hear(const Sent& sent, const redisReply& reply);

    RedisConnection connection_;
    Durability durability_;
    CallBy by_ = CallBy::Function;
    std::deque<Sent> expected_;
    std::uint64_t said_ = 0;
    std::uint64_t looked_us_ = 0;
    bool owes_wait_ = false;
    bool waits_ = false;
};

}  // namespace sluice
