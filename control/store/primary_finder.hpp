#pragma once
#include "control/store/slot_map.hpp"
#include "control/store/store_access.hpp"
#include "control/store/store_fault.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace sluice {

// Finds the store's primaries: at the addresses themselves in turn, or as sentinels or nodes
// of a Redis Cluster say, who are asked again and again on a connection of their own.
class PrimaryFinder {
public:
    explicit PrimaryFinder(std::shared_ptr<const StoreAccess> access);

    // `hurried`: a primary is missing, so they are asked more often.
    void keep(std::uint64_t now_us, bool hurried);
    [[nodiscard]] int fd() const noexcept { return connection_ ? connection_->fd() : -1; }
    [[nodiscard]] short events() const noexcept {
        return connection_ ? connection_->events() : short{0};
    }
    void go_on(short ready, std::uint64_t now_us);

    // nullopt: nobody has said yet.
    [[nodiscard]] const std::optional<SlotMap>& map() const noexcept { return map_; }
    // How often it was said.
    [[nodiscard]] std::uint64_t told() const noexcept { return told_; }
    // Why nobody says.
    [[nodiscard]] const std::optional<StoreFault>& fault() const noexcept { return fault_; }

    // The map is asked for at once: a primary has said that another has a key.
    void ask_now() noexcept { next_us_ = 0; }
    // A primary is not where it is said to be: whoever comes next is asked. `worked`: it was there.
    void primary_lost(bool worked, std::uint64_t now_us);

private:
    [[nodiscard]] bool asks() const noexcept {
        return access_->cluster_mode || !access_->sentinel.empty();
    }
    [[nodiscard]] const ServerAddress& address() const;
    void dial(std::uint64_t now_us);
    void ask(std::uint64_t now_us);
    void lose(StoreFault fault, std::uint64_t now_us);
    [[nodiscard]] std::optional<StoreFault> hear(const redisReply& reply);
    [[nodiscard]] std::optional<StoreFault> refused(std::string_view error) const;

    std::shared_ptr<const StoreAccess> access_;
    std::size_t at_ = 0;
    std::optional<SlotMap> map_;
    std::uint64_t told_ = 0;
    std::optional<StoreFault> fault_;
    std::optional<RedisConnection> connection_;
    bool greets_ = false;         // the answer to AUTH comes first
    std::string unwelcome_;       // what it was, if an error
    std::uint64_t asked_us_ = 0;  // 0: nothing is expected
    std::uint64_t next_us_ = 0;
    std::uint64_t gap_us_ = 0;
};

}  // namespace sluice
