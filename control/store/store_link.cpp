#include "control/store/store_link.hpp"

#include "control/store/function_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <hiredis/hiredis.h>

namespace sluice {
namespace {

constexpr std::uint64_t kFirstGapUs = 50'000;
constexpr std::uint64_t kLongestGapUs = 1'000'000;
constexpr std::uint64_t kSlowUs = 300'000;        // of an answer: the link counts as away
constexpr std::uint64_t kDeadlineUs = 1'000'000;  // the connection is given up
constexpr std::uint64_t kLookEveryUs = 1'000'000;
constexpr const char* kReplicaWaitMs = "50";

std::int64_t utc_us() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string command(std::initializer_list<std::string> words) {
    return redis_command(std::vector<std::string>{words});
}

std::string_view text_of(const redisReply& reply) {
    const bool text = reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS ||
                      reply.type == REDIS_REPLY_ERROR;
    return text ? std::string_view{reply.str, static_cast<std::size_t>(reply.len)}
                : std::string_view{};
}

std::string words_of(const ServerAddress& address) {
    return fmt::format("{}:{}", address.host, address.port);
}

}  // namespace

StoreLink::StoreLink(StoreAccess access, std::uint64_t birth)
    : access_{std::move(access)},
      birth_{birth},
      fault_{StoreFault{StoreLinkState::Away, "the store was not dialled yet"}} {}

void StoreLink::greet(const std::optional<StoreHello>& hello) {
    pending_.clear();
    replies_.clear();
    seen_ = 0;
    joined_ = false;
    hello_ = hello;
    // Answers to batches of an earlier life end with their connection.
    connection_.reset();
    expected_.clear();
    dial_at_us_ = 0;
    gap_us_ = 0;
}

void StoreLink::take(const StoreBatch& batch, std::uint64_t now_us) {
    const auto [at, added] = pending_.try_emplace(batch.partition);
    Pending& pending = at->second;
    if (!added && pending.under_way) {
        return;
    }
    pending.batch = batch;
    pending.applied.reset();
    if (fault_ && fault_->state == StoreLinkState::Fenced) {
        answer_all_fenced();
    } else if (is_ready()) {
        send(pending, now_us);
    }
}

int StoreLink::fd() const noexcept {
    return connection_ ? connection_->fd() : -1;
}

short StoreLink::events() const noexcept {
    return connection_ ? connection_->events() : short{0};
}

void StoreLink::keep(std::uint64_t now_us) {
    if (!hello_) {
        return;
    }
    if (!connection_) {
        if (now_us >= dial_at_us_) {
            dial(now_us);
        }
        return;
    }
    const std::uint64_t since = expected_.empty() ? now_us : expected_.front().sent_us;
    if (now_us > since + kDeadlineUs) {
        hang_up({StoreLinkState::Away, "the store does not answer"}, now_us);
    } else if (now_us >= looked_us_ + kLookEveryUs) {
        look_after(now_us);
    }
}

// Everything that is asked at first goes out at once: where one answer is no, the connection ends.
void StoreLink::dial(std::uint64_t now_us) {
    const ServerAddress& address = access_.addresses[address_ % access_.addresses.size()];
    Result<RedisConnection> connection = RedisConnection::dial(address, access_.tls);
    if (!connection) {
        hang_up({StoreLinkState::Away, connection.error().what}, now_us);
        return;
    }
    connection_ = *std::move(connection);
    if (!access_.password.empty()) {
        expect(Call::Auth,
               access_.user.empty() ? command({"AUTH", access_.password})
                                    : command({"AUTH", access_.user, access_.password}),
               now_us);
    }
    look_after(now_us);
}

void StoreLink::hang_up(StoreFault fault, std::uint64_t now_us) {
    if (fault.state == StoreLinkState::Away) {
        fault.why = fmt::format(
            "{}: {}", words_of(access_.addresses[address_ % access_.addresses.size()]), fault.why);
    }
    connection_.reset();
    expected_.clear();
    for (auto& [partition, pending] : pending_) {
        pending.under_way = false;
    }
    joined_ = false;
    fault_ = std::move(fault);
    ++address_;
    gap_us_ = std::clamp(2 * gap_us_, kFirstGapUs, kLongestGapUs);
    dial_at_us_ = now_us + gap_us_;
}

// Asked of each new connection and again each second: what may be evicted, who is primary, and
// whether the slot is still this box's.
void StoreLink::look_after(std::uint64_t now_us) {
    looked_us_ = now_us;
    expect(Call::Memory, command({"INFO", "memory"}), now_us);
    expect(Call::Role, command({"INFO", "replication"}), now_us);
    join(now_us);
}

void StoreLink::expect(Call call, std::string_view command, std::uint64_t now_us,
                       std::uint16_t partition) {
    connection_->send(command);
    expected_.push_back({call, partition, now_us});
}

void StoreLink::join(std::uint64_t now_us) {
    expect(Call::Join,
           join_command({.cluster = hello_->cluster,
                         .node = hello_->node,
                         .size = hello_->size,
                         .life = hello_->life,
                         .seen = seen_}),
           now_us);
}

void StoreLink::send(Pending& pending, std::uint64_t now_us) {
    const std::uint16_t partition = pending.batch.partition;
    const PartitionClock& clock = clocks_[partition];
    const bool replicated = hello_->durability == Durability::Replica;
    const StoreCaller caller{.size = hello_->size,
                             .slot = slot_,
                             .incarnation = incarnation_,
                             .reckoned_us = clock.reckon(now_us),
                             .born = clock.born(),
                             .birth = birth_,
                             .again = replicated && pending.times != 0};
    expect(Call::Sync, sync_command(hello_->cluster, caller, pending.batch), now_us, partition);
    if (replicated) {
        expect(Call::Wait, command({"WAIT", "1", kReplicaWaitMs}), now_us, partition);
    }
    retries_ += pending.times != 0 ? 1 : 0;
    ++pending.times;
    pending.under_way = true;
}

void StoreLink::send_all(std::uint64_t now_us) {
    for (auto& [partition, pending] : pending_) {
        if (!pending.under_way) {
            send(pending, now_us);
        }
    }
}

void StoreLink::go_on(short ready, std::uint64_t now_us) {
    if (!connection_) {
        return;
    }
    const Result<Done> done = connection_->go_on(ready);
    std::optional<StoreFault> fault = read_replies(now_us);
    if (!fault && !done) {
        fault = StoreFault{StoreLinkState::Away, done.error().what};
    }
    if (fault) {
        hang_up(*std::move(fault), now_us);
    }
}

std::optional<StoreFault> StoreLink::read_replies(std::uint64_t now_us) {
    for (;;) {
        const Result<RedisReplyOwner> reply = connection_->next();
        if (!reply) {
            return StoreFault{StoreLinkState::Refused, reply.error().what};
        }
        if (*reply == nullptr) {
            return std::nullopt;
        }
        if (expected_.empty()) {
            return StoreFault{StoreLinkState::Refused, "the store answers what it was not asked"};
        }
        const Expected expected = expected_.front();
        expected_.pop_front();
        if (const std::optional<StoreFault> fault = take_reply(expected, **reply, now_us)) {
            return fault;
        }
    }
}

std::optional<StoreFault> StoreLink::take_reply(const Expected& expected, const redisReply& reply,
                                                std::uint64_t now_us) {
    if (reply.type == REDIS_REPLY_ERROR) {
        return store_fault_of(text_of(reply));
    }
    switch (expected.call) {
        case Call::Auth:
            return std::nullopt;
        case Call::Memory:
            return memory_fault(text_of(reply));
        case Call::Role:
            return role_fault(text_of(reply), hello_->durability);
        case Call::Join:
            rtt_us_ = now_us - expected.sent_us;
            return joined(reply, now_us);
        case Call::Sync:
            rtt_us_ = now_us - expected.sent_us;
            return synced(expected.partition, reply, now_us);
        case Call::Wait:
            confirmed(expected.partition, reply, now_us);
            return std::nullopt;
    }
    return std::nullopt;
}

std::optional<StoreFault> StoreLink::joined(const redisReply& reply, std::uint64_t now_us) {
    const Result<JoinAnswer> answer = join_answer(reply);
    if (!answer) {
        return StoreFault{StoreLinkState::Refused, answer.error().what};
    }
    clock_off_us_ = static_cast<std::int64_t>(answer->utc_us + rtt_us_ / 2) - utc_us();
    if (answer->revision < kStoreFunctionRevision) {
        return StoreFault{StoreLinkState::Refused,
                          "the store has an older function sl1: `sluicectl store init`"};
    }
    gap_us_ = 0;
    joined_ = answer->outcome == JoinOutcome::Joined;
    if (joined_) {
        slot_ = answer->slot;
        incarnation_ = answer->incarnation;
        fault_.reset();
        send_all(now_us);
        return std::nullopt;
    }
    fault_ = StoreFault{StoreLinkState::Fenced, ""};
    switch (answer->outcome) {
        case JoinOutcome::OtherSize:
            fault_->why = fmt::format("the cluster has the size {}, and this box says {}",
                                      answer->size, hello_->size);
            break;
        case JoinOutcome::Full:
            fault_->why = fmt::format(
                "all {} slots of the cluster are held: `sluicectl store "
                "status` names the holders",
                answer->size);
            break;
        default:
            fault_->why =
                fmt::format("another box has joined as {} since: names are for one", hello_->node);
    }
    answer_all_fenced();
    return std::nullopt;
}

std::optional<StoreFault> StoreLink::synced(std::uint16_t partition, const redisReply& reply,
                                            std::uint64_t now_us) {
    const auto at = pending_.find(partition);
    if (at == pending_.end()) {
        return StoreFault{StoreLinkState::Away, "the store answers what it was not asked"};
    }
    Pending& pending = at->second;
    Result<StoreAnswerTo> answer = sync_answer(reply, pending.batch);
    if (!answer) {
        return StoreFault{StoreLinkState::Refused, answer.error().what};
    }
    clocks_[partition].tell(answer->born, answer->now_us, now_us);
    if (answer->outcome == StoreOutcome::Fenced) {
        fenced(pending, *answer, now_us);
        return std::nullopt;
    }
    StoreReply said{.partition = partition,
                    .seq = pending.batch.seq,
                    .outcome = answer->outcome,
                    .last = answer->last,
                    .now_us = answer->now_us,
                    .born = answer->born,
                    .levels = std::move(answer->levels)};
    if (hello_->durability == Durability::Replica && said.outcome == StoreOutcome::Applied) {
        pending.applied = std::move(said);
        return std::nullopt;
    }
    replies_.push_back(std::move(said));
    pending_.erase(at);
    return std::nullopt;
}

// No replica has it: the batch is said again, and waited for again.
void StoreLink::confirmed(std::uint16_t partition, const redisReply& reply, std::uint64_t now_us) {
    const auto at = pending_.find(partition);
    if (at == pending_.end() || !at->second.applied) {
        return;
    }
    if (reply.type == REDIS_REPLY_INTEGER && reply.integer >= 1) {
        replies_.push_back(*std::move(at->second.applied));
        pending_.erase(at);
    } else {
        at->second.applied.reset();
        send(at->second, now_us);
    }
}

// Who holds the slot is asked first: after a roster was lost, this box may take a later incarnation
// and go on.
void StoreLink::fenced(Pending& pending, const StoreAnswerTo& answer, std::uint64_t now_us) {
    pending.under_way = false;
    if (answer.last != hello_->size) {
        fault_ = StoreFault{StoreLinkState::Fenced,
                            fmt::format("the cluster has the size {}, and this box says {}",
                                        answer.last, hello_->size)};
        joined_ = false;
        answer_all_fenced();
        return;
    }
    seen_ = std::max(seen_, answer.held);
    if (joined_) {
        joined_ = false;
        join(now_us);
    }
}

void StoreLink::answer_all_fenced() {
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

std::vector<StoreReply> StoreLink::take_replies() {
    return std::exchange(replies_, {});
}

StoreLinkReport StoreLink::report(std::uint64_t now_us) const {
    StoreLinkReport report{
        .slot = slot_, .rtt_us = rtt_us_, .clock_off_us = clock_off_us_, .retries = retries_};
    if (fault_) {
        report.state = fault_->state;
        report.why = fault_->why;
    } else if (!expected_.empty() && now_us > expected_.front().sent_us + kSlowUs) {
        report.why = "the store is slow to answer";
    } else if (joined_) {
        report.state = StoreLinkState::Ready;
    } else {
        report.why = "the store is asked for a slot";
    }
    return report;
}

}  // namespace sluice
