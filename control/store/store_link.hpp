#pragma once
#include "control/store/partition_faults.hpp"
#include "control/store/primary_finder.hpp"
#include "control/store/primary_link.hpp"
#include "control/store/store_member.hpp"
#include "lib/peer/store/partition_clock.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct pollfd;

namespace sluice {

// The link to the store: its primaries found, dialled, joined, and dialled again; batches of
// several partitions are under way at once. Time is the caller's, us of its monotonic clock.
//
// Invariant: a batch is answered once the store has it, or has said that it does not; until then it
// is kept, and said again with its number on the next connection.
class StoreLink {
public:
    using Clock = std::function<std::uint64_t()>;

    explicit StoreLink(StoreAccess access);

    // The box that the dataplane is, in place of an earlier one; nullopt: it is gone.
    void greet(const std::optional<StoreHello>& hello);
    // Behind greet(): clocks of partitions that an earlier process was told of.
    void adopt(const StoreClocks& known);
    void take(const StoreBatch& batch, std::uint64_t now_us);
    // Deadlines, and what is due each second.
    void keep(std::uint64_t now_us);
    // The sockets that poll() waits for, behind what is there; and once it has waited.
    void add_sockets(std::vector<pollfd>& waited) const;
    void go_on(std::span<const pollfd> waited, const Clock& clock);
    // Answers that the dataplane is to be told.
    [[nodiscard]] std::vector<StoreReply> take_replies();
    [[nodiscard]] StoreLinkReport report(std::uint64_t now_us) const;

private:
    struct Primary {
        ServerAddress address;
        std::optional<PrimaryLink> link;
        bool needed = false;              // it has the roster or a partition
        bool begun = false;               // its link was asked for all that is needed of it
        bool works = false;               // the function has answered
        std::optional<StoreFault> fault;  // until it works
        std::string lacks;                // its error about a function, where a script is tried
        std::uint64_t dial_at_us = 0;
        std::uint64_t dialled_at_us = 0;
        std::uint64_t gap_us = 0;  // between two dials, growing
    };
    struct Pending {
        StoreBatch batch;
        bool under_way = false;
        ServerAddress at;                       // of the primary that has it
        std::uint64_t number = 0;               // of the call there
        unsigned times = 0;                     // that it was sent
        std::optional<StoreReply> applied;      // waits for a replica
        std::optional<ServerAddress> asked_at;  // for once
        std::uint64_t behind = 0;               // so often primaries are to be found first
    };
    using Answer = PrimaryLink::Answer;

    [[nodiscard]] std::uint16_t partitions() const noexcept;
    // nullptr: there is none.
    [[nodiscard]] const ServerAddress* primary_of(const std::string& key) const;
    [[nodiscard]] Primary* roster_primary();
    [[nodiscard]] bool is_asked(const Primary& primary) const;
    void meet_primaries(std::uint64_t now_us);
    void need(const std::string& key, std::uint64_t now_us);
    void dial(Primary& primary, std::uint64_t now_us);
    void begin(Primary& primary, std::uint64_t now_us);
    void hang_up(Primary& primary, StoreFault fault, std::uint64_t now_us);
    void drop(Primary& primary);
    void join(Primary& primary, std::uint64_t now_us);
    void leave();
    void tick(Primary& primary, std::uint16_t partition, std::uint64_t now_us);
    void keep_clocks(std::uint64_t now_us);
    void tick_where_due(std::uint16_t partition, std::uint64_t now_us);
    void go_on(Primary& primary, short ready, const Clock& clock);
    // store_link_answers.cpp
    void send(Pending& pending, std::uint64_t now_us);
    void send_all(std::uint64_t now_us);
    [[nodiscard]] std::optional<StoreFault> take_answer(Primary& primary, const Answer& answer,
                                                        std::uint64_t now_us);
    [[nodiscard]] std::optional<StoreFault> take_error(Primary& primary, const Answer& answer,
                                                       std::uint64_t now_us);
    void redirect(Pending* pending, const Redirection& redirection);
    [[nodiscard]] bool goes_by_script(Primary& primary, const Answer& answer,
                                      std::string_view error, std::uint64_t now_us);
    [[nodiscard]] bool is_of_partition(Primary& primary, const Answer& answer,
                                       std::string_view error, std::uint64_t now_us);
    [[nodiscard]] std::optional<StoreFault> joined(const Answer& answer);
    [[nodiscard]] std::optional<StoreFault> ticked(const Answer& answer, std::uint64_t now_us);
    [[nodiscard]] std::optional<StoreFault> synced(Primary& primary, const Answer& answer,
                                                   std::uint64_t now_us);
    void confirmed(const Primary& primary, const Answer& answer);
    void answer_all_fenced();

    std::shared_ptr<const StoreAccess> access_;
    PrimaryFinder finder_;
    std::optional<StoreMember> member_;
    std::map<std::string, Primary> primaries_;  // by the words of their addresses
    std::map<std::uint16_t, Pending> pending_;
    std::map<std::uint16_t, PartitionClock> clocks_;
    PartitionFaults faults_;
    std::size_t without_primary_ = 0;  // partitions, and the roster
    std::vector<StoreReply> replies_;
    std::optional<std::uint64_t> met_;  // so often primaries were found then
    std::uint64_t join_at_us_ = 0;
    std::uint64_t tick_at_us_ = 0;
    std::uint16_t tick_next_ = 0;
    std::uint64_t rtt_us_ = 0;
    std::int64_t clock_off_us_ = 0;
    std::uint64_t retries_ = 0;
};

}  // namespace sluice
