#include "lib/engine/remote/reserve_client.hpp"

#include "lib/engine/burst/burst.hpp"
#include "lib/peer/merge/account.hpp"

#include <algorithm>

namespace sluice {

ReserveClient::ReserveClient(std::size_t self, AskLanes& lanes, const PendingBounds& bounds)
    : self_{self},
      lanes_{lanes},
      pending_{bounds},
      held_{std::make_unique_for_overwrite<HeldPacket[]>(bounds.packets)},
      put_{std::make_unique<Put[]>(bounds.questions)} {}

std::size_t ReserveClient::owner_of_key(std::uint64_t hash, LimitSlot slot) const noexcept {
    return owner_of(Account{hash, slot}, lanes_.workers());
}

bool ReserveClient::hold(Burst& burst, std::size_t row, std::uint64_t connection,
                         std::span<const WantedQuestion> wanted, Instant now) noexcept {
    const PendingSlot place = wanted.size() > pending_.free_questions()
                                  ? kNoPendingSlot
                                  : pending_.enter(connection, now);
    if (place == kNoPendingSlot) {
        counters_.count(AskEvent::NoRoom);
        return false;
    }
    HeldPacket& held = held_[place];
    if (!held.units.keep(burst, row)) {
        pending_.leave(place);
        counters_.count(AskEvent::NoRoom);
        return false;
    }
    held.buffer = burst.packets()[row].buffer;
    held.origin = origin_;
    for (const WantedQuestion& one : wanted) {
        ask(place, one);
    }
    pending_.begin_waiting(place);
    counters_.held.set(pending_.size());
    burst.take_out(row_bit(row));
    return true;
}

void ReserveClient::ask(PendingSlot place, const WantedQuestion& wanted) noexcept {
    const Ticket ticket =
        pending_.ask(place, tag_of(wanted.unit, wanted.question.slot)).value_or(Ticket{});
    Question question = wanted.question;
    question.ticket = ticket;
    put_[ticket.place] = {.question = question, .store = wanted.store};
    if (send(question, wanted.store)) {
        counters_.count(AskEvent::Asked);
        return;
    }
    counters_.count(AskEvent::RingFull);
    (void)pending_.take_answer({.ticket = ticket, .what = Answer::What::Unknown});
}

// The store has charged what it admits, so it is asked once, and told nothing more.
bool ReserveClient::send(const Question& question, const StoreAsking& store) noexcept {
    if (!store.is_asked()) {
        const std::size_t owner = owner_of_key(question.hash, question.slot);
        return lanes_.between(self_, owner).questions.put(question);
    }
    StoreAskLane* const lane = lanes_.store(self_);
    const std::uint64_t cost = std::min<std::uint64_t>(question.cost.count(), UINT32_MAX);
    return lane != nullptr &&
           lane->questions.put({.ticket = question.ticket,
                                .hash = question.hash,
                                .cost = static_cast<std::uint32_t>(cost),
                                .slot = question.slot,
                                .is_answered = question.kind == Question::Kind::Ask,
                                .limit = store});
}

void ReserveClient::spend(PendingSlot place, const WantedQuestion& wanted) noexcept {
    const Question& question = wanted.question;
    bool waits = false;
    if (place != kNoPendingSlot) {
        pending_.for_each_question(place, [&](const PendingPackets::Asked& asked) {
            if (asked.tag == tag_of(wanted.unit, question.slot)) {
                put_[asked.ticket.place].spends = true;
                waits = true;
            }
        });
    }
    if (!waits) {
        send_spending(question, wanted.store);
    }
}

void ReserveClient::send_spending(const Question& asked, const StoreAsking& store) noexcept {
    Question question = asked;
    question.kind = Question::Kind::Spend;
    if (!send(question, store)) {
        counters_.count(AskEvent::RingFull);
    }
}

void ReserveClient::take_answers(Instant now) noexcept {
    for (std::size_t owner = 0; owner < lanes_.workers(); ++owner) {
        lanes_.between(self_, owner).answers.drain([&](const Answer& answer) {
            if (pending_.take_answer(answer)) {
                return;
            }
            counters_.count(AskEvent::Late);
            if (admits(answer)) {
                settle(owner, answer.ticket, Question::Kind::Cancel);
            }
        });
    }
    if (StoreAskLane* const lane = lanes_.store(self_)) {
        lane->answers.drain([&](const Answer& answer) {
            counters_.count(AskEvent::Late, pending_.take_answer(answer) ? 0 : 1);
        });
    }
    pending_.expire(now);
}

std::size_t ReserveClient::take_ready(std::span<PendingSlot> places) noexcept {
    std::size_t count = 0;
    std::size_t further = 0;
    while (count < places.size()) {
        const PendingSlot next = pending_.next_ready();
        if (next == kNoPendingSlot) {
            break;
        }
        further += held_[next].units.further_places();
        if (count != 0 &&
            (held_[next].origin != held_[places[0]].origin || further > kMaxFurther)) {
            break;
        }
        places[count++] = pending_.take_ready();
    }
    return count;
}

const Answer* ReserveClient::answer(PendingSlot place, std::uint8_t unit,
                                    LimitSlot slot) const noexcept {
    const Answer* found = nullptr;
    if (place != kNoPendingSlot) {
        pending_.for_each_question(place, [&](const PendingPackets::Asked& asked) {
            found = asked.tag == tag_of(unit, slot) ? asked.answer : found;
        });
    }
    return found == nullptr || found->what == Answer::What::Unknown ? nullptr : found;
}

void ReserveClient::keep_reserved(PendingSlot place, std::uint8_t unit, LimitSlot slot) noexcept {
    if (place != kNoPendingSlot) {
        pending_.for_each_question(place, [&](const PendingPackets::Asked& asked) {
            put_[asked.ticket.place].kept |= asked.tag == tag_of(unit, slot);
        });
    }
}

void ReserveClient::settle(std::size_t owner, Ticket ticket, Question::Kind kind) noexcept {
    if (!lanes_.between(self_, owner).questions.put({.ticket = ticket, .kind = kind})) {
        counters_.count(AskEvent::Unsettled);
    }
}

void ReserveClient::finish(PendingSlot place) noexcept {
    pending_.for_each_question(place, [&](const PendingPackets::Asked& asked) {
        if (asked.answer == nullptr) {
            counters_.count(AskEvent::NoAnswer);
        } else if (admits(*asked.answer) && !put_[asked.ticket.place].store.is_asked()) {
            const Put& was = put_[asked.ticket.place];
            settle(owner_of_key(was.question.hash, was.question.slot), asked.ticket,
                   was.kept ? Question::Kind::Commit : Question::Kind::Cancel);
        }
    });
    pending_.for_each_question(place, [&](const PendingPackets::Asked& asked) {
        if (put_[asked.ticket.place].spends) {
            const Put& was = put_[asked.ticket.place];
            send_spending(was.question, was.store);
        }
    });
    pending_.finish(place);
    counters_.held.set(pending_.size());
}

}  // namespace sluice
