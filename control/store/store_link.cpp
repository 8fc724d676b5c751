#include "control/store/store_link.hpp"

#include "control/store/patience.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

namespace sluice {
namespace {

constexpr std::uint64_t kSlowUs = 300'000;  // of an answer: the link counts as away
constexpr std::uint64_t kJoinEveryUs = 1'000'000;
// The pace of a box that differs from its cluster: the others are there first where the roster is
// lost.
constexpr std::uint64_t kDifferingJoinEveryUs = 5'000'000;
constexpr std::uint64_t kTickEveryUs = 60'000'000;  // each partition
constexpr std::size_t kMostPrimaries = 64;          // that are remembered, whoever named them

}  // namespace

StoreLink::StoreLink(StoreAccess access)
    : access_{std::make_shared<const StoreAccess>(std::move(access))}, finder_{access_} {}

std::uint16_t StoreLink::partitions() const noexcept {
    return access_->cluster_mode ? kMostStorePartitions : kStorePartitions;
}

const ServerAddress* StoreLink::primary_of(const std::string& key) const {
    return finder_.map() ? finder_.map()->primary_of(hash_slot(key)) : nullptr;
}

StoreLink::Primary* StoreLink::roster_primary() {
    const ServerAddress* address = primary_of(roster_key(member_->hello().cluster));
    const auto at = address == nullptr ? primaries_.end() : primaries_.find(words_of(*address));
    return at == primaries_.end() ? nullptr : &at->second;
}

void StoreLink::greet(const std::optional<StoreHello>& hello) {
    if (!hello) {
        leave();
    }
    pending_.clear();
    replies_.clear();
    faults_.clear();
    member_.reset();
    if (hello) {
        member_.emplace(*hello);
    }
    // Answers to batches of an earlier life end with their connections.
    primaries_.clear();
    met_.reset();
}

void StoreLink::adopt(const StoreClocks& known) {
    for (const StoreClockReading& at : known.clocks) {
        PartitionClock& clock = clocks_[at.partition];
        if (clock.born() == 0 || clock.born() == at.born) {
            clock.adopt(at.born, at.ahead_us);
        }
    }
}

// The dataplane is gone. What the socket does not take at once is lost: the name is free some
// seconds later then.
void StoreLink::leave() {
    Primary* roster = member_ && member_->joined() ? roster_primary() : nullptr;
    if (roster != nullptr && roster->link) {
        roster->link->say(PrimaryLink::Call::Join, member_->leaves(roster->link->by()), 0);
        (void)roster->link->go_on(POLLOUT);
    }
}

void StoreLink::take(const StoreBatch& batch, std::uint64_t now_us) {
    if (!member_ || batch.partition >= partitions()) {
        return;
    }
    const auto [at, added] = pending_.try_emplace(batch.partition);
    Pending& pending = at->second;
    if (!added && pending.under_way) {
        return;
    }
    pending.batch = batch;
    if (member_->fault()) {
        answer_all_fenced();
    } else {
        send(pending, now_us);
    }
}

void StoreLink::add_sockets(std::vector<pollfd>& waited) const {
    waited.push_back({.fd = finder_.fd(), .events = finder_.events(), .revents = 0});
    for (const auto& [at, primary] : primaries_) {
        if (primary.link) {
            waited.push_back(
                {.fd = primary.link->fd(), .events = primary.link->events(), .revents = 0});
        }
    }
}

// Answers were made before they were read: what they say of a partition's clock is as of the moment
// after that, since an earlier one would let it gain what passes in between.
void StoreLink::go_on(std::span<const pollfd> waited, const Clock& clock) {
    for (const pollfd& socket : waited) {
        if (socket.revents == 0) {
            continue;
        }
        if (socket.fd == finder_.fd()) {
            finder_.go_on(socket.revents, clock());
            continue;
        }
        for (auto& [at, primary] : primaries_) {
            if (primary.link && primary.link->fd() == socket.fd) {
                go_on(primary, socket.revents, clock);
                break;
            }
        }
    }
}

void StoreLink::go_on(Primary& primary, short ready, const Clock& clock) {
    const Result<Done> done = primary.link->go_on(ready);
    const std::uint64_t now_us = clock();
    for (;;) {
        const PrimaryLink::Heard heard = primary.link->next();
        std::optional<StoreFault> fault;
        if (const auto* answer = std::get_if<Answer>(&heard)) {
            fault = take_answer(primary, *answer, now_us);
        } else if (const auto* refused = std::get_if<StoreFault>(&heard)) {
            fault = *refused;
        } else if (!done) {
            fault = StoreFault{StoreLinkState::Away, done.error().what};
        } else {
            return;
        }
        if (fault) {
            hang_up(primary, *std::move(fault), now_us);
            return;
        }
    }
}

void StoreLink::keep(std::uint64_t now_us) {
    if (!member_) {
        return;
    }
    finder_.keep(now_us, std::ranges::any_of(primaries_, [](const auto& each) {
                     return each.second.needed && !each.second.works;
                 }));
    meet_primaries(now_us);
    for (auto& [at, primary] : primaries_) {
        const bool wanted = primary.needed || is_asked(primary);
        if (wanted && !primary.link && now_us >= primary.dial_at_us) {
            dial(primary, now_us);
        }
    }
    if (Primary* roster = roster_primary();
        roster != nullptr && roster->link && now_us >= join_at_us_) {
        join(*roster, now_us);
    }
    keep_clocks(now_us);
    send_all(now_us);
    for (auto& [at, primary] : primaries_) {
        if (!primary.link) {
            continue;
        }
        if (std::optional<StoreFault> fault = primary.link->keep(now_us)) {
            hang_up(primary, *std::move(fault), now_us);
        }
    }
}

// Primaries with a partition or the roster are needed; links to others end.
void StoreLink::meet_primaries(std::uint64_t now_us) {
    if (!finder_.map() || met_ == finder_.told()) {
        return;
    }
    met_ = finder_.told();
    for (auto& [at, primary] : primaries_) {
        primary.needed = false;
    }
    without_primary_ = 0;
    need(roster_key(member_->hello().cluster), now_us);
    for (std::uint16_t partition = 0; partition < partitions(); ++partition) {
        need(partition_key(member_->hello().cluster, partition), now_us);
    }
    for (auto at = primaries_.begin(); at != primaries_.end();) {
        if (!at->second.needed && !is_asked(at->second)) {
            drop(at->second);
            if (primaries_.size() > kMostPrimaries) {
                at = primaries_.erase(at);
                continue;
            }
        }
        ++at;
    }
}

void StoreLink::need(const std::string& key, std::uint64_t now_us) {
    const ServerAddress* address = primary_of(key);
    if (address == nullptr) {
        ++without_primary_;
        return;
    }
    Primary& primary = primaries_[words_of(*address)];
    primary.address = *address;
    // A link that was for single calls until now is asked what any is at first.
    primary.needed = true;
    if (primary.link && !primary.begun) {
        begin(primary, now_us);
    }
}

bool StoreLink::is_asked(const Primary& primary) const {
    return std::ranges::any_of(
        pending_, [&](const auto& each) { return each.second.asked_at == primary.address; });
}

// Everything that is asked at first goes out at once: where one answer is no, the connection ends.
void StoreLink::dial(Primary& primary, std::uint64_t now_us) {
    Result<PrimaryLink> link =
        PrimaryLink::dial(primary.address, *access_, member_->hello().durability, now_us);
    if (!link) {
        hang_up(primary, {StoreLinkState::Away, link.error().what}, now_us);
        return;
    }
    primary.link = *std::move(link);
    primary.dialled_at_us = now_us;
    primary.lacks.clear();
    begin(primary, now_us);
}

void StoreLink::begin(Primary& primary, std::uint64_t now_us) {
    primary.begun = primary.needed;
    if (&primary == roster_primary() && member_->differs()) {
        join_at_us_ = now_us + kDifferingJoinEveryUs;
    } else if (&primary == roster_primary()) {
        join(primary, now_us);
    }
    for (std::uint16_t partition = 0; partition < partitions(); ++partition) {
        const ServerAddress* at = primary_of(partition_key(member_->hello().cluster, partition));
        if (at != nullptr && *at == primary.address) {
            tick(primary, partition, now_us);
        }
    }
}

void StoreLink::hang_up(Primary& primary, StoreFault fault, std::uint64_t now_us) {
    if (fault.state == StoreLinkState::Away || access_->cluster_mode) {
        fault.why = words_of(primary.address) + ": " + fault.why;
    }
    const bool worked = primary.works;
    // One that lets boxes join and ends soon is dialled less and less, too.
    if (worked && now_us - primary.dialled_at_us >= kSteadyUs) {
        primary.gap_us = 0;
    }
    drop(primary);
    primary.fault = std::move(fault);
    primary.gap_us = std::clamp(2 * primary.gap_us, kFirstGapUs, kLongestGapUs);
    primary.dial_at_us = now_us + primary.gap_us;
    if (primary.needed) {
        finder_.primary_lost(worked, now_us);
    }
}

void StoreLink::drop(Primary& primary) {
    primary.link.reset();
    primary.works = false;
    primary.begun = false;
    for (auto& [partition, pending] : pending_) {
        if (pending.at == primary.address) {
            pending.under_way = false;
            pending.applied.reset();
        }
        if (pending.at == primary.address || pending.asked_at == primary.address) {
            pending.asked_at.reset();
        }
    }
    if (&primary == roster_primary()) {
        member_->lose();
    }
}

void StoreLink::join(Primary& primary, std::uint64_t now_us) {
    join_at_us_ = now_us + (member_->differs() ? kDifferingJoinEveryUs : kJoinEveryUs);
    primary.link->say(PrimaryLink::Call::Join, member_->joins(primary.link->by()), now_us);
}

void StoreLink::tick(Primary& primary, std::uint16_t partition, std::uint64_t now_us) {
    const PartitionClock& clock = clocks_[partition];
    primary.link->say(PrimaryLink::Call::Tick,
                      tick_command(partition_key(member_->hello().cluster, partition),
                                   clock.reckon(now_us), clock.born(), primary.link->by()),
                      now_us, partition);
}

// One partition after the other, so that each is told where its clock stands once a minute.
void StoreLink::keep_clocks(std::uint64_t now_us) {
    if (!member_->joined()) {
        return;
    }
    for (const std::uint16_t partition : faults_.due_clocks(now_us)) {
        tick_where_due(partition, now_us);
    }
    if (now_us < tick_at_us_) {
        return;
    }
    tick_at_us_ = now_us + kTickEveryUs / partitions();
    tick_next_ = static_cast<std::uint16_t>((tick_next_ + 1) % partitions());
    tick_where_due(tick_next_, now_us);
}

void StoreLink::tick_where_due(std::uint16_t partition, std::uint64_t now_us) {
    const ServerAddress* address = primary_of(partition_key(member_->hello().cluster, partition));
    const auto at = address == nullptr ? primaries_.end() : primaries_.find(words_of(*address));
    if (at != primaries_.end() && at->second.works) {
        tick(at->second, partition, now_us);
    }
}

StoreLinkReport StoreLink::report(std::uint64_t now_us) const {
    StoreLinkReport report{.slot = member_ ? member_->slot() : std::uint16_t{0},
                           .partitions = partitions(),
                           .rtt_us = rtt_us_,
                           .clock_off_us = clock_off_us_,
                           .retries = retries_};
    const auto refuse = [&](const StoreFault& fault) {
        report.state = fault.state;
        report.why = fault.why;
        return report;
    };
    if (member_ && member_->fault()) {
        return refuse(*member_->fault());
    }
    if (!finder_.map() && finder_.fault()) {
        return refuse(*finder_.fault());
    }
    bool slow = false;
    bool all_work = !primaries_.empty();
    for (const auto& [at, primary] : primaries_) {
        if (primary.needed && primary.fault) {
            return refuse(*primary.fault);
        }
        all_work = all_work && (primary.works || !primary.needed);
        slow = slow || (primary.link && now_us > primary.link->waits_since(now_us) + kSlowUs);
    }
    if (without_primary_ != 0) {
        return refuse({StoreLinkState::Away,
                       fmt::format("no node of the Redis Cluster has the slots of {} of {} "
                                   "partitions",
                                   without_primary_, partitions())});
    }
    if (const std::optional<StoreFault> fault = faults_.fault(partitions())) {
        return refuse(*fault);
    }
    if (slow) {
        report.why = "the store is slow to answer";
    } else if (member_ && member_->joined() && all_work) {
        report.state = StoreLinkState::Ready;
    } else {
        report.why =
            primaries_.empty() ? "the store was not dialled yet" : "the store is asked for a slot";
    }
    return report;
}

std::vector<StoreReply> StoreLink::take_replies() {
    return std::exchange(replies_, {});
}

}  // namespace sluice
