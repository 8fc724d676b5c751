// Batches of a StoreLink on their way to the store, and what its primaries answer.
#include "control/store/function_text.hpp"
#include "control/store/store_link.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <hiredis/hiredis.h>
#include <sys/random.h>

namespace sluice {
namespace {

using Call = PrimaryLink::Call;

std::int64_t utc_us() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// A number that no other partition's birth has; main() has seen that the system gives some.
std::uint64_t random_birth() {
    std::uint64_t birth = 0;
    (void)::getrandom(&birth, sizeof(birth), 0);
    return (birth >> 11) | 1;  // 53 bits, which the store's numbers hold
}

}  // namespace

void StoreLink::send_all(std::uint64_t now_us) {
    for (auto& [partition, pending] : pending_) {
        if (!pending.under_way) {
            send(pending, now_us);
        }
    }
}

void StoreLink::send(Pending& pending, std::uint64_t now_us) {
    const StoreHello& hello = member_->hello();
    const std::uint16_t partition = pending.batch.partition;
    const ServerAddress* address =
        pending.asked_at ? &*pending.asked_at : primary_of(partition_key(hello.cluster, partition));
    if (!member_->joined() || address == nullptr || finder_.told() < pending.behind ||
        faults_.holds_back(partition, now_us)) {
        return;
    }
    const auto at = primaries_.find(words_of(*address));
    if (at == primaries_.end() || !at->second.link || (!at->second.works && !pending.asked_at)) {
        return;
    }
    PrimaryLink& link = *at->second.link;
    const PartitionClock& clock = clocks_[partition];
    const StoreCaller caller{.size = hello.size,
                             .slot = member_->slot(),
                             .incarnation = member_->incarnation(),
                             .reckoned_us = clock.reckon(now_us),
                             .born = clock.born(),
                             .birth = random_birth(),
                             .again = hello.durability == Durability::Replica};
    if (pending.asked_at) {
        link.say(Call::Asking, redis_command(std::vector<std::string>{"ASKING"}), now_us);
    }
    pending.number =
        link.say(Call::Sync, sync_command(hello.cluster, caller, pending.batch, link.by()), now_us,
                 partition);
    pending.at = *address;
    pending.asked_at.reset();
    pending.applied.reset();
    pending.under_way = true;
    retries_ += pending.times != 0 ? 1 : 0;
    ++pending.times;
}

std::optional<StoreFault> StoreLink::take_answer(Primary& primary, const Answer& answer,
                                                 std::uint64_t now_us) {
    if (answer.reply->type == REDIS_REPLY_ERROR) {
        return take_error(primary, answer, now_us);
    }
    if (answer.sent.call == Call::Wait) {
        confirmed(primary, answer);
        return std::nullopt;
    }
    rtt_us_ = now_us - answer.sent.at_us;
    if (answer.sent.call == Call::Sync) {
        return synced(primary, answer, now_us);
    }
    std::optional<StoreFault> fault =
        answer.sent.call == Call::Join ? joined(answer) : ticked(answer, now_us);
    if (!fault) {
        primary.works = true;
        primary.fault.reset();
    }
    return fault;
}

std::optional<StoreFault> StoreLink::take_error(Primary& primary, const Answer& answer,
                                                std::uint64_t now_us) {
    const std::string_view error = error_of(*answer.reply);
    const auto pending =
        answer.sent.call == Call::Sync ? pending_.find(answer.sent.partition) : pending_.end();
    const bool redirected = access_->cluster_mode && redirection_of(error);
    if (!redirected && !goes_by_script(primary, answer, error, now_us) &&
        !is_of_partition(primary, answer, error, now_us)) {
        const bool by_script = answer.sent.by == CallBy::Script;
        return store_fault_of(by_script && !primary.lacks.empty() ? primary.lacks : error);
    }
    if (pending != pending_.end()) {
        pending->second.under_way = false;
    }
    if (redirected) {
        redirect(pending == pending_.end() ? nullptr : &pending->second, *redirection_of(error));
    }
    return std::nullopt;
}

// The connection goes on, with the batches of other partitions: the primary has answered.
bool StoreLink::is_of_partition(Primary& primary, const Answer& answer, std::string_view error,
                                std::uint64_t now_us) {
    const bool is_batch = answer.sent.call == Call::Sync;
    const bool is_its =
        (is_batch || answer.sent.call == Call::Tick) &&
        faults_.take(answer.sent.partition,
                     is_batch ? PartitionFaults::Of::Batch : PartitionFaults::Of::Clock, error,
                     now_us);
    primary.works = primary.works || is_its;
    return is_its;
}

// Another primary has it: for good, which is asked for anew, or for this call alone.
void StoreLink::redirect(Pending* pending, const Redirection& redirection) {
    if (pending != nullptr && redirection.once && redirection.to) {
        pending->asked_at = redirection.to;
        primaries_[words_of(*redirection.to)].address = *redirection.to;
        return;
    }
    finder_.ask_now();
    if (pending != nullptr) {
        pending->behind = finder_.told() + 1;
    }
}

// False: the error is another, or the store has no script either. A store without functions is
// older than 7.0, or its operator keeps them from boxes.
bool StoreLink::goes_by_script(Primary& primary, const Answer& answer, std::string_view error,
                               std::uint64_t now_us) {
    if (answer.sent.by == CallBy::Script || answer.sent.call == Call::Wait ||
        !lacks_functions(error)) {
        return false;
    }
    if (primary.link->by() == CallBy::Function) {
        primary.lacks = lacks_right(error) ? std::string_view{} : error;
        primary.link->go_by_script();
        begin(primary, now_us);
    }
    return true;
}

std::optional<StoreFault> StoreLink::joined(const Answer& answer) {
    const Result<JoinAnswer> join = join_answer(*answer.reply);
    if (!join) {
        return StoreFault{StoreLinkState::Refused, join.error().what};
    }
    if (join->revision < kStoreFunctionRevision) {
        return StoreFault{StoreLinkState::Refused,
                          "the store has an older function sl1: `sluicectl store init`"};
    }
    const std::uint64_t utc = std::min(join->utc_us, kMostStoreNumber) + rtt_us_ / 2;
    clock_off_us_ = static_cast<std::int64_t>(utc) - utc_us();
    member_->take(*join);
    if (member_->fault()) {
        answer_all_fenced();
    }
    return std::nullopt;
}

std::optional<StoreFault> StoreLink::ticked(const Answer& answer, std::uint64_t now_us) {
    const Result<TickAnswer> tick = tick_answer(*answer.reply);
    if (!tick) {
        return StoreFault{StoreLinkState::Refused, tick.error().what};
    }
    faults_.end(answer.sent.partition, PartitionFaults::Of::Clock);
    if (tick->born != 0) {
        clocks_[answer.sent.partition].tell(tick->born, tick->now_us, now_us);
    }
    return std::nullopt;
}

std::optional<StoreFault> StoreLink::synced(Primary& primary, const Answer& answer,
                                            std::uint64_t now_us) {
    const std::uint16_t partition = answer.sent.partition;
    const auto at = pending_.find(partition);
    if (at == pending_.end() || !(at->second.at == primary.address) ||
        at->second.number != answer.sent.number) {
        return StoreFault{StoreLinkState::Away, "the store answers what it was not asked"};
    }
    Pending& pending = at->second;
    Result<StoreAnswerTo> sync = sync_answer(*answer.reply, pending.batch);
    if (!sync) {
        return StoreFault{StoreLinkState::Refused, sync.error().what};
    }
    faults_.end(partition, PartitionFaults::Of::Batch);
    clocks_[partition].tell(sync->born, sync->now_us, now_us);
    if (sync->outcome == StoreOutcome::Fenced) {
        pending.under_way = false;
        if (member_->fenced(*sync)) {
            join_at_us_ = 0;
        } else if (member_->fault()) {
            answer_all_fenced();
        }
        return std::nullopt;
    }
    StoreReply said{.partition = partition,
                    .seq = pending.batch.seq,
                    .outcome = sync->outcome,
                    .last = sync->last,
                    .now_us = sync->now_us,
                    .born = sync->born,
                    .levels = std::move(sync->levels)};
    if (member_->hello().durability == Durability::Replica &&
        said.outcome == StoreOutcome::Applied) {
        pending.applied = std::move(said);
        return std::nullopt;
    }
    replies_.push_back(std::move(said));
    pending_.erase(at);
    return std::nullopt;
}

// All batches before that WAIT are confirmed by it, or are said again where no replica has them.
void StoreLink::confirmed(const Primary& primary, const Answer& answer) {
    const bool has = answer.reply->type == REDIS_REPLY_INTEGER && answer.reply->integer >= 1;
    for (auto at = pending_.begin(); at != pending_.end();) {
        Pending& pending = at->second;
        const bool is_of_it =
            pending.applied && pending.at == primary.address && pending.number < answer.sent.number;
        if (is_of_it && has) {
            replies_.push_back(*std::move(pending.applied));
            at = pending_.erase(at);
            continue;
        }
        if (is_of_it) {
            pending.applied.reset();
            pending.under_way = false;
        }
        ++at;
    }
}

void StoreLink::answer_all_fenced() {
    faults_.clear();  // a fault of a batch ends with a batch of its partition, and none may come
    for (auto at = pending_.begin(); at != pending_.end();) {
        if (at->second.under_way) {
            ++at;
            continue;
        }
        replies_.push_back(
            {.partition = at->first, .seq = at->second.batch.seq, .outcome = StoreOutcome::Fenced});
        at = pending_.erase(at);
    }
}

}  // namespace sluice
