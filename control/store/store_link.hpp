#pragma once
#include "control/store/partition_clock.hpp"
#include "control/store/redis_connection.hpp"
#include "control/store/store_fault.hpp"
#include "control/store/sync_call.hpp"
#include "lib/wire/store_codec.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// How the store is reached, with what files say already read.
struct StoreAccess {
    std::vector<ServerAddress> addresses;
    std::string user;
    std::string password;
    std::optional<TlsTowards> tls;
};

// The link to the store: dialled, greeted, joined, and dialled again; batches of several partitions
// are under way at once. Time is the caller's, us of its monotonic clock.
//
// Invariant: a batch is answered once the store has it, or has said that it does not; until then it
// is kept, and said again with its number on the next connection.
class StoreLink {
public:
    StoreLink(StoreAccess access, std::uint64_t birth);

    // The box that the dataplane is, in place of an earlier one; nullopt: it is gone.
    void greet(const std::optional<StoreHello>& hello);
    void take(const StoreBatch& batch, std::uint64_t now_us);
    // Deadlines, and what is due each second.
    void keep(std::uint64_t now_us);
    // The socket that poll() waits for; fd -1: there is no connection.
    [[nodiscard]] int fd() const noexcept;
    [[nodiscard]] short events() const noexcept;
    void go_on(short ready, std::uint64_t now_us);
    // Answers that the dataplane is to be told.
    [[nodiscard]] std::vector<StoreReply> take_replies();
    [[nodiscard]] StoreLinkReport report(std::uint64_t now_us) const;

private:
    enum class Call : std::uint8_t { Auth, Memory, Role, Join, Sync, Wait };
    struct Expected {
        Call call;
        std::uint16_t partition = 0;
        std::uint64_t sent_us = 0;
    };
    struct Pending {
        StoreBatch batch;
        bool under_way = false;
        unsigned times = 0;                 // that it was sent
        std::optional<StoreReply> applied;  // waits for a replica
    };

    void dial(std::uint64_t now_us);
    void hang_up(StoreFault fault, std::uint64_t now_us);
    void look_after(std::uint64_t now_us);
    void expect(Call call, std::string_view command, std::uint64_t now_us,
                std::uint16_t partition = 0);
    void join(std::uint64_t now_us);
    void send(Pending& pending, std::uint64_t now_us);
    void send_all(std::uint64_t now_us);
    [[nodiscard]] std::optional<StoreFault> read_replies(std::uint64_t now_us);
    [[nodiscard]] std::optional<StoreFault> take_reply(const Expected& expected,
                                                       const redisReply& reply,
                                                       std::uint64_t now_us);
    [[nodiscard]] std::optional<StoreFault> joined(const redisReply& reply, std::uint64_t now_us);
    [[nodiscard]] std::optional<StoreFault> synced(std::uint16_t partition, const redisReply& reply,
                                                   std::uint64_t now_us);
    void confirmed(std::uint16_t partition, const redisReply& reply, std::uint64_t now_us);
    void fenced(Pending& pending, const StoreAnswerTo& answer, std::uint64_t now_us);
    void answer_all_fenced();
    [[nodiscard]] bool is_ready() const noexcept { return joined_ && !fault_; }

    StoreAccess access_;
    std::uint64_t birth_;
    std::optional<StoreHello> hello_;
    std::optional<RedisConnection> connection_;
    std::size_t address_ = 0;  // that is dialled next
    std::uint64_t dial_at_us_ = 0;
    std::uint64_t gap_us_ = 0;  // between two dials, growing
    std::uint64_t looked_us_ = 0;
    std::deque<Expected> expected_;
    std::map<std::uint16_t, Pending> pending_;
    std::map<std::uint16_t, PartitionClock> clocks_;
    std::vector<StoreReply> replies_;
    std::optional<StoreFault> fault_;
    bool joined_ = false;
    std::uint16_t slot_ = 0;
    std::uint64_t incarnation_ = 0;
    std::uint64_t seen_ = 0;  // the latest incarnation that fenced it
    std::uint64_t rtt_us_ = 0;
    std::int64_t clock_off_us_ = 0;
    std::uint64_t retries_ = 0;
};

}  // namespace sluice
