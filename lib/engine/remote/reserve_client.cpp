#include "lib/engine/remote/reserve_client.hpp"

#include "lib/engine/burst/burst.hpp"
#include "lib/peer/merge/account.hpp"

namespace sluice {

ReserveClient::ReserveClient(std::size_t self, AskLanes& lanes, const RoomBounds& bounds)
    : self_{self},
      lanes_{lanes},
      room_{bounds},
      held_{std::make_unique_for_overwrite<HeldPacket[]>(bounds.packets)},
      put_{std::make_unique<Put[]>(bounds.questions)} {}

std::size_t ReserveClient::owner_of_key(std::uint64_t hash, LimitSlot slot) const noexcept {
    return owner_of(Account{hash, slot}, lanes_.workers());
}

bool ReserveClient::hold(Burst& burst, std::size_t row, std::uint64_t connection,
                         std::span<const WantedQuestion> wanted, Instant now) noexcept {
    const RoomPlace place =
        wanted.size() > room_.free_questions() ? kNoRoomPlace : room_.enter(connection, now);
    if (place == kNoRoomPlace) {
        counters_.count(AskEvent::NoRoom);
        return false;
    }
    HeldPacket& held = held_[place];
    if (!held.units.keep(burst, row)) {
        room_.leave(place);
        counters_.count(AskEvent::NoRoom);
        return false;
    }
    held.buffer = burst.packets()[row].buffer;
    held.origin = origin_;
    for (const WantedQuestion& one : wanted) {
        ask(place, one);
    }
    room_.begin_waiting(place);
    counters_.held.set(room_.size());
    burst.take_out(row_bit(row));
    return true;
}

void ReserveClient::ask(RoomPlace place, const WantedQuestion& wanted) noexcept {
    const Ticket ticket =
        room_.ask(place, tag_of(wanted.unit, wanted.question.slot)).value_or(Ticket{});
    Question question = wanted.question;
    question.ticket = ticket;
    put_[ticket.place] = {.question = question};
    const std::size_t owner = owner_of_key(question.hash, question.slot);
    if (lanes_.between(self_, owner).questions.put(question)) {
        counters_.count(AskEvent::Asked);
        return;
    }
    counters_.count(AskEvent::RingFull);
    (void)room_.take_answer({.ticket = ticket, .what = Answer::What::Unknown});
}

void ReserveClient::spend(RoomPlace place, std::uint8_t unit, const Question& question) noexcept {
    bool waits = false;
    if (place != kNoRoomPlace) {
        room_.for_each_question(place, [&](const PendingPackets::Asked& asked) {
            if (asked.tag == tag_of(unit, question.slot)) {
                put_[asked.ticket.place].spends = true;
                waits = true;
            }
        });
    }
    if (!waits) {
        send_spending(question);
    }
}

void ReserveClient::send_spending(const Question& asked) noexcept {
    Question question = asked;
    question.kind = Question::Kind::Spend;
    const std::size_t owner = owner_of_key(question.hash, question.slot);
    if (!lanes_.between(self_, owner).questions.put(question)) {
        counters_.count(AskEvent::RingFull);
    }
}

void ReserveClient::take_answers(Instant now) noexcept {
    for (std::size_t owner = 0; owner < lanes_.workers(); ++owner) {
        lanes_.between(self_, owner).answers.drain([&](const Answer& answer) {
            if (room_.take_answer(answer)) {
                return;
            }
            counters_.count(AskEvent::Late);
            if (admits(answer)) {
                settle(owner, answer.ticket, Question::Kind::Cancel);
            }
        });
    }
    room_.expire(now);
}

std::size_t ReserveClient::take_ready(std::span<RoomPlace> places) noexcept {
    std::size_t count = 0;
    std::size_t further = 0;
    while (count < places.size()) {
        const RoomPlace next = room_.next_ready();
        if (next == kNoRoomPlace) {
            break;
        }
        further += held_[next].units.further_places();
        if (count != 0 &&
            (held_[next].origin != held_[places[0]].origin || further > kMaxFurther)) {
            break;
        }
        places[count++] = room_.take_ready();
    }
    return count;
}

const Answer* ReserveClient::answer(RoomPlace place, std::uint8_t unit,
                                    LimitSlot slot) const noexcept {
    const Answer* found = nullptr;
    if (place != kNoRoomPlace) {
        room_.for_each_question(place, [&](const PendingPackets::Asked& asked) {
            found = asked.tag == tag_of(unit, slot) ? asked.answer : found;
        });
    }
    return found == nullptr || found->what == Answer::What::Unknown ? nullptr : found;
}

void ReserveClient::keep_reserved(RoomPlace place, std::uint8_t unit, LimitSlot slot) noexcept {
    if (place != kNoRoomPlace) {
        room_.for_each_question(place, [&](const PendingPackets::Asked& asked) {
            put_[asked.ticket.place].kept |= asked.tag == tag_of(unit, slot);
        });
    }
}

void ReserveClient::settle(std::size_t owner, Ticket ticket, Question::Kind kind) noexcept {
    if (!lanes_.between(self_, owner).questions.put({.ticket = ticket, .kind = kind})) {
        counters_.count(AskEvent::Unsettled);
    }
}

void ReserveClient::finish(RoomPlace place) noexcept {
    room_.for_each_question(place, [&](const PendingPackets::Asked& asked) {
        if (asked.answer == nullptr) {
            counters_.count(AskEvent::NoAnswer);
        } else if (admits(*asked.answer)) {
            const Put& was = put_[asked.ticket.place];
            settle(owner_of_key(was.question.hash, was.question.slot), asked.ticket,
                   was.kept ? Question::Kind::Commit : Question::Kind::Cancel);
        }
    });
    room_.for_each_question(place, [&](const PendingPackets::Asked& asked) {
        if (put_[asked.ticket.place].spends) {
            send_spending(put_[asked.ticket.place].question);
        }
    });
    room_.finish(place);
    counters_.held.set(room_.size());
}

}  // namespace sluice
