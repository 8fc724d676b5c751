#include "lib/peer/reserve/pending_packets.hpp"

#include "lib/base/check.hpp"

#include <bit>

namespace sluice {

PendingPackets::PendingPackets(const PendingBounds& bounds)
    : longest_{bounds.longest},
      packets_(bounds.packets),
      questions_(bounds.questions),
      connections_(std::bit_ceil(2 * bounds.packets + 1), kNone) {
    for (std::size_t i = packets_.size(); i > 0; --i) {
        packets_[i - 1].older = free_packet_;
        free_packet_ = static_cast<PendingSlot>(i - 1);
    }
    for (std::size_t i = questions_.size(); i > 0; --i) {
        questions_[i - 1].next = free_question_;
        free_question_ = static_cast<std::uint32_t>(i - 1);
    }
    free_question_count_ = questions_.size();
}

// Where the last packet of the connection is named, or would be.
const PendingSlot* PendingPackets::find(std::uint64_t connection) const noexcept {
    const PendingSlot* at = &connections_[connection & (connections_.size() - 1)];
    while (*at != kNone && packets_[*at].connection != connection) {
        at = &packets_[*at].chain;
    }
    return at;
}
PendingSlot* PendingPackets::find(std::uint64_t connection) noexcept {
    return const_cast<PendingSlot*>(static_cast<const PendingPackets&>(*this).find(connection));
}

PendingSlot PendingPackets::enter(std::uint64_t connection, Instant now) noexcept {
    const PendingSlot packet = free_packet_;
    if (packet == kNone) {
        return kNoPendingSlot;
    }
    free_packet_ = packets_[packet].older;
    PendingSlot* const last = find(connection);
    const PendingSlot before = *last;
    packets_[packet] = {.connection = connection,
                        .until = now + longest_,
                        .before = before,
                        .older = newest_,
                        .chain = before == kNone ? kNone : packets_[before].chain};
    if (before != kNone) {
        packets_[before].behind = packet;
    }
    *last = packet;
    (newest_ == kNone ? oldest_ : packets_[newest_].newer) = packet;
    newest_ = packet;
    ++size_;
    return packet;
}

std::optional<Ticket> PendingPackets::ask(PendingSlot packet, std::uint32_t tag) noexcept {
    const std::uint32_t at = free_question_;
    if (at == kNone) {
        return std::nullopt;
    }
    Slip& slip = questions_[at];
    free_question_ = slip.next;
    --free_question_count_;
    slip.tag = tag;
    slip.packet = packet;
    slip.answered = false;
    slip.next = packets_[packet].first_question;
    packets_[packet].first_question = at;
    ++packets_[packet].unanswered;
    return Ticket{at, slip.turn};
}

void PendingPackets::begin_waiting(PendingSlot packet) noexcept {
    if (packets_[packet].unanswered == 0) {
        set_done(packet);
    }
}

void PendingPackets::leave(PendingSlot packet) noexcept {
    leave_ages(packet);
    packets_[packet].taken = true;
    finish(packet);
}

bool PendingPackets::take_answer(const Answer& answer) noexcept {
    if (answer.ticket.place >= questions_.size()) {
        return false;
    }
    Slip& slip = questions_[answer.ticket.place];
    if (slip.packet == kNone || slip.turn != answer.ticket.turn || slip.answered) {
        return false;
    }
    slip.answer = answer;
    slip.answered = true;
    if (--packets_[slip.packet].unanswered == 0) {
        set_done(slip.packet);
    }
    return true;
}

void PendingPackets::expire(Instant now) noexcept {
    while (oldest_ != kNone && packets_[oldest_].until <= now) {
        set_done(oldest_);
    }
}

void PendingPackets::set_done(PendingSlot packet) noexcept {
    if (packets_[packet].done) {
        return;
    }
    packets_[packet].done = true;
    leave_ages(packet);
    const PendingSlot before = packets_[packet].before;
    if (before == kNone || packets_[before].taken) {
        offer(packet);
    }
}

void PendingPackets::offer(PendingSlot packet) noexcept {
    (last_ready_ == kNone ? first_ready_ : packets_[last_ready_].next_ready) = packet;
    last_ready_ = packet;
}

PendingSlot PendingPackets::take_ready() noexcept {
    const PendingSlot packet = first_ready_;
    if (packet == kNone) {
        return kNoPendingSlot;
    }
    first_ready_ = packets_[packet].next_ready;
    last_ready_ = first_ready_ == kNone ? kNone : last_ready_;
    packets_[packet].taken = true;
    const PendingSlot behind = packets_[packet].behind;
    if (behind != kNone && packets_[behind].done) {
        offer(behind);
    }
    return packet;
}

void PendingPackets::finish(PendingSlot packet) noexcept {
    SLUICE_CHECK(packets_[packet].taken);
    leave_connection(packet);
    free_questions_of(packet);
    packets_[packet] = {.older = free_packet_};
    free_packet_ = packet;
    --size_;
}

void PendingPackets::leave_connection(PendingSlot packet) noexcept {
    Held& held = packets_[packet];
    if (held.behind == kNone) {
        PendingSlot* const last = find(held.connection);
        *last = held.before == kNone ? held.chain : held.before;
        if (held.before != kNone) {
            packets_[held.before].chain = held.chain;
        }
    } else {
        packets_[held.behind].before = held.before;
    }
    if (held.before != kNone) {
        packets_[held.before].behind = held.behind;
    }
}

void PendingPackets::leave_ages(PendingSlot packet) noexcept {
    const Held& held = packets_[packet];
    (held.older == kNone ? oldest_ : packets_[held.older].newer) = held.newer;
    (held.newer == kNone ? newest_ : packets_[held.newer].older) = held.older;
}

// Their turns are over: an answer that comes from now on is nobody's.
void PendingPackets::free_questions_of(PendingSlot packet) noexcept {
    std::uint32_t at = packets_[packet].first_question;
    while (at != kNone) {
        Slip& slip = questions_[at];
        const std::uint32_t next = slip.next;
        ++slip.turn;
        slip.packet = kNone;
        slip.next = free_question_;
        free_question_ = at;
        ++free_question_count_;
        at = next;
    }
}

}  // namespace sluice
