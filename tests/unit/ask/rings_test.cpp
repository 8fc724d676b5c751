#include "lib/ask/ask_lane.hpp"
#include "lib/ask/reservations.hpp"
#include "lib/ask/waiting_room.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

// An asker and an owner on two threads, with rings that are often full: of one key that never
// refills, no more is admitted than there is, and every unit that was admitted has been charged in
// the end, except those that were cancelled.
namespace sluice::ask_rings_test {
namespace {

constexpr std::uint64_t kCount = 5'000;  // that the key has
constexpr std::uint64_t kPackets = 60'000;
constexpr std::size_t kPlaces = 64;
constexpr Nanoseconds kLifetime{1'000'000};  // rounds of the owner, one ns each

struct Told {
    std::uint64_t committed = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t admitted = 0;
    std::uint64_t unsent = 0;  // commits and cancels that found no room
};

class Owner {
public:
    explicit Owner(AskLane& lane) : lane_{lane} {}

    // False: nobody asked.
    bool serve() {
        bool asked = false;
        lane_.questions.drain([&](const Question& question) {
            take(question);
            asked = true;
        });
        (void)reservations_.expire(now_, 4, [this](const Reservation& one) { charge(one); });
        now_ += Nanoseconds{1};
        rounds_.fetch_add(1);
        return asked;
    }
    // What the asker goes by: however threads take turns, an owner that serves has time to.
    [[nodiscard]] Instant time() const { return Instant{Nanoseconds{rounds_.load()}}; }
    // Nobody settles anything any more.
    void end() {
        (void)serve();
        (void)reservations_.expire(Instant::max(), 2 * kPlaces,
                                   [this](const Reservation& one) { charge(one); });
        EXPECT_EQ(reservations_.size(), 0U);
    }
    [[nodiscard]] std::uint64_t charged() const { return charged_; }

private:
    void charge(const Reservation& one) { charged_ += one.units.count(); }
    void take(const Question& question) {
        if (question.kind != Question::Kind::Ask) {
            const auto settled = reservations_.settle(0, question.ticket);
            if (settled && question.kind == Question::Kind::Commit) {
                charge(*settled);
            }
            return;
        }
        const Reservation wanted{.hash = question.hash, .units = question.cost, .slot = 1};
        const std::uint64_t used =
            charged_ + reservations_.reserved(question.hash, 1).all().count();
        const bool fits = used + question.cost.count() <= kCount;
        Answer answer{.ticket = question.ticket, .what = Answer::What::Judged};
        answer.conformance = fits ? Conformance::Green : Conformance::Red;
        if (fits) {
            if (const auto lost = reservations_.reserve(0, question.ticket, wanted, now_)) {
                charge(*lost);
            }
        }
        (void)put(lane_.answers, answer);
    }

    AskLane& lane_;
    Reservations reservations_{{1, kPlaces, kLifetime}};
    Instant now_{};
    std::atomic<std::int64_t> rounds_{0};
    std::uint64_t charged_ = 0;
};

class Asker {
public:
    explicit Asker(AskLane& lane) : lane_{lane} {}

    // False: all of its packets have come and gone.
    [[nodiscard]] bool turn(Instant now) {
        now_ = now;
        if (sent_ < kPackets && room_.free_questions() != 0) {
            enter();
        }
        lane_.answers.drain([this](const Answer& answer) {
            if (!room_.take_answer(answer) && admits(answer)) {
                settle(answer.ticket, false);
            }
        });
        room_.expire(now_);
        for (RoomPlace at = room_.take_ready(); at != kNoRoomPlace; at = room_.take_ready()) {
            decide(at);
        }
        return sent_ < kPackets || !room_.empty();
    }
    [[nodiscard]] const Told& told() const { return told_; }

private:
    void enter() {
        const RoomPlace at = room_.enter(sent_ % 7, now_);
        if (at == kNoRoomPlace) {
            return;
        }
        const Ticket ticket = *room_.ask(at, 0);
        room_.begin_waiting(at);
        (void)put(lane_.questions, {.ticket = ticket, .slot = 1, .hash = 99, .cost = Units{1}});
        ++sent_;
    }
    void decide(RoomPlace at) {
        room_.for_each_question(at, [this](const WaitingRoom::Asked& asked) {
            if (asked.answer != nullptr && admits(*asked.answer)) {
                ++told_.admitted;
                settle(asked.ticket, told_.admitted % 5 != 0);
            }
        });
        room_.finish(at);
    }
    void settle(Ticket ticket, bool commits) {
        const auto kind = commits ? Question::Kind::Commit : Question::Kind::Cancel;
        if (!put(lane_.questions, {.ticket = ticket, .kind = kind, .slot = 1, .hash = 99})) {
            ++told_.unsent;
        }
        ++(commits ? told_.committed : told_.cancelled);
    }

    AskLane& lane_;
    WaitingRoom room_{{.packets = kPlaces, .questions = kPlaces, .longest = Nanoseconds{50}}};
    Instant now_{};
    std::uint64_t sent_ = 0;
    Told told_;
};

TEST(AskRings, NoMoreIsAdmittedThanThereIsAndWhatIsLostIsCharged) {
    AskLanes lanes{1, 16};
    AskLane& lane = lanes.between(0, 0);
    Owner owner{lane};
    Asker asker{lane};
    std::atomic<bool> done{false};
    std::thread serving{[&] {
        while (!done.load()) {
            if (!owner.serve()) {
                std::this_thread::yield();  // to the asker, should there be one core
            }
        }
        owner.end();
    }};
    while (asker.turn(owner.time())) {
        std::this_thread::yield();
    }
    done.store(true);
    serving.join();
    const Told& told = asker.told();
    EXPECT_LE(owner.charged(), kCount);
    EXPECT_LE(told.committed, owner.charged()) << "what went on has been charged";
    EXPECT_EQ(owner.charged(), kCount) << "nothing is left over: there was more than enough to do";
    EXPECT_GT(told.cancelled, 0U);
}

}  // namespace
}  // namespace sluice::ask_rings_test
