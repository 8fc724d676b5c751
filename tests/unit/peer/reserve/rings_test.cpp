#include "lib/peer/reserve/ask_lane.hpp"
#include "lib/peer/reserve/pending_packets.hpp"
#include "lib/peer/reserve/reservations.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

// An asker and an owner on two threads, with rings that are often full and answers that often come
// late: of one key that never refills, no more is admitted than there is, and every unit that was
// admitted has been charged in the end, except those that were cancelled.
namespace sluice::ask_rings_test {
namespace {

constexpr std::uint64_t kCount = 5'000;  // that the key has
constexpr std::uint64_t kPackets = 60'000;
constexpr std::size_t kPlaces = 64;
// In ns, of which each round of the owner takes one.
constexpr Nanoseconds kLifetime{2'000};  // of what nobody settles
constexpr Nanoseconds kLongest{50};      // that a packet waits for an answer
constexpr int kRoundsInOrder = 64;       // of the owner, until it stands still for a while

struct Told {
    std::uint64_t committed = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t admitted = 0;
    std::uint64_t unasked = 0;  // questions that found no room
    std::uint64_t unsent = 0;   // commits and cancels that found none
    std::uint64_t late = 0;     // answers that nobody awaited any more, and that admit
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
        (void)reservations_.expire(now_, 4, [this](const Reservation& one) {
            charge(one);
            ++expired_;
        });
        pass(Nanoseconds{1});
        return asked;
    }
    void pass(Nanoseconds time) {
        now_ += time;
        time_.fetch_add(time.count());
    }
    // What the asker goes by: however threads take turns, an owner that serves has time to.
    [[nodiscard]] Instant time() const { return Instant{Nanoseconds{time_.load()}}; }
    // Nobody settles anything any more.
    void end() {
        (void)serve();
        (void)reservations_.expire(Instant::max(), 2 * kPlaces,
                                   [this](const Reservation& one) { charge(one); });
        EXPECT_EQ(reservations_.size(), 0U);
    }
    [[nodiscard]] std::uint64_t charged() const { return charged_; }
    [[nodiscard]] std::uint64_t expired() const { return expired_; }

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
        (void)lane_.answers.put(answer);
    }

    AskLane& lane_;
    Reservations reservations_{{1, kPlaces, kLifetime}};
    Instant now_{};
    std::atomic<std::int64_t> time_{0};
    std::uint64_t charged_ = 0;
    std::uint64_t expired_ = 0;
};

class Asker {
public:
    explicit Asker(AskLane& lane) : lane_{lane} {}

    // False: all of its packets have come and gone.
    [[nodiscard]] bool poll(Instant now) {
        const std::lock_guard taken{turning_};
        now_ = now;
        if (sent_ < kPackets && pending_.free_questions() != 0) {
            enter();
        }
        lane_.answers.drain([this](const Answer& answer) {
            if (!pending_.take_answer(answer) && admits(answer)) {
                ++told_.late;
                settle(answer.ticket, false);
            }
        });
        pending_.expire(now_);
        for (PendingSlot at = pending_.take_ready(); at != kNoPendingSlot;
             at = pending_.take_ready()) {
            decide(at);
        }
        turns_.fetch_add(1);
        return sent_ < kPackets || !pending_.empty();
    }
    [[nodiscard]] std::uint64_t turns() const { return turns_.load(); }
    // Locked by the asker during each turn.
    [[nodiscard]] std::mutex& turning() { return turning_; }
    [[nodiscard]] const Told& told() const { return told_; }

private:
    void enter() {
        const PendingSlot at = pending_.enter(sent_ % 7, now_);
        if (at == kNoPendingSlot) {
            return;
        }
        const Ticket ticket = *pending_.ask(at, 0);
        pending_.begin_waiting(at);
        if (!lane_.questions.put({.ticket = ticket, .slot = 1, .hash = 99, .cost = Units{1}})) {
            ++told_.unasked;
        }
        ++sent_;
    }
    void decide(PendingSlot at) {
        pending_.for_each_question(at, [this](const PendingPackets::Asked& asked) {
            if (asked.answer != nullptr && admits(*asked.answer)) {
                ++told_.admitted;
                settle(asked.ticket, told_.admitted % 5 != 0);
            }
        });
        pending_.finish(at);
    }
    void settle(Ticket ticket, bool commits) {
        const auto kind = commits ? Question::Kind::Commit : Question::Kind::Cancel;
        if (!lane_.questions.put({.ticket = ticket, .kind = kind, .slot = 1, .hash = 99})) {
            ++told_.unsent;
        }
        ++(commits ? told_.committed : told_.cancelled);
    }

    AskLane& lane_;
    PendingPackets pending_{{.packets = kPlaces, .questions = kPlaces, .longest = kLongest}};
    Instant now_{};
    std::uint64_t sent_ = 0;
    std::atomic<std::uint64_t> turns_{0};
    std::mutex turning_;
    Told told_;
};

// The owner, until it is `done`.
class Serving {
public:
    Serving(Owner& owner, Asker& asker, const std::atomic<bool>& done)
        : owner_{owner}, asker_{asker}, done_{done} {}

    void run() {
        for (int round = 0; !done_.load(); ++round) {
            if (round % kRoundsInOrder == 0) {
                stand_still();
            } else if (!owner_.serve()) {
                std::this_thread::yield();  // to the asker, should there be one core
            }
        }
        owner_.end();
    }

private:
    // Questions fill their ring, and no packet gets its answer in time; nor is there room to settle
    // all of these answers, so that some of what is reserved for them is lost.
    void stand_still() {
        let_waiting_go();
        await_turns(kPlaces + 1);
        let_waiting_go();
        {
            const std::lock_guard asker_stands{asker_.turning()};
            (void)owner_.serve();
        }
        await_turns(2);
        owner_.pass(kLifetime);
        (void)owner_.serve();
    }
    void let_waiting_go() {
        owner_.pass(2 * kLongest);
        await_turns(2);
    }
    // Of the asker, each of which sends one packet as long as it has places.
    void await_turns(std::uint64_t count) {
        const std::uint64_t until = asker_.turns() + count;
        while (asker_.turns() < until && !done_.load()) {
            std::this_thread::yield();
        }
    }

    Owner& owner_;
    Asker& asker_;
    const std::atomic<bool>& done_;
};

TEST(AskRings, NoMoreIsAdmittedThanThereIsAndWhatIsLostIsCharged) {
    Links links{1, {.reserve = 16}};
    AskLanes lanes{links};
    AskLane& lane = lanes.between(0, 0);
    Owner owner{lane};
    Asker asker{lane};
    std::atomic<bool> done{false};
    std::thread serving{[&] { Serving{owner, asker, done}.run(); }};
    while (asker.poll(owner.time())) {
        std::this_thread::yield();
    }
    done.store(true);
    serving.join();
    const Told& told = asker.told();
    EXPECT_LE(owner.charged(), kCount);
    EXPECT_LE(told.committed, owner.charged()) << "what went on has been charged";
    EXPECT_EQ(owner.charged(), kCount) << "nothing is left over: there was more than enough to do";
    EXPECT_GT(told.cancelled, told.late);
    EXPECT_GT(told.unasked, 0U);
    EXPECT_GT(told.unsent, 0U);
    EXPECT_GT(told.late, 0U);
    EXPECT_GT(owner.expired(), 0U);
}

}  // namespace
}  // namespace sluice::ask_rings_test
