#include "lib/peer/reserve/pending_packets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace sluice::pending_packets_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};
constexpr PendingBounds kBounds{.packets = 6, .questions = 9, .longest = Nanoseconds{100}};

Answer yes(Ticket ticket) {
    return {.ticket = ticket, .what = Answer::What::Judged, .conformance = Conformance::Green};
}

TEST(PendingPackets, APacketIsReadyOnceAllOfItsAnswersAreThere) {
    PendingPackets pending{kBounds};
    EXPECT_TRUE(pending.empty());
    const PendingSlot packet = pending.enter(7, kStart);
    const Ticket first = *pending.ask(packet, 10);
    const Ticket second = *pending.ask(packet, 20);
    pending.begin_waiting(packet);
    EXPECT_TRUE(pending.holds(7));
    EXPECT_FALSE(pending.holds(8));
    EXPECT_TRUE(pending.take_answer(yes(first)));
    EXPECT_FALSE(pending.take_answer(yes(first))) << "once";
    EXPECT_EQ(pending.take_ready(), kNoPendingSlot);
    EXPECT_TRUE(pending.take_answer(yes(second)));
    EXPECT_EQ(pending.take_ready(), packet);
    std::vector<std::uint32_t> tags;
    pending.for_each_question(packet, [&](const PendingPackets::Asked& asked) {
        EXPECT_TRUE(asked.answer != nullptr && asked.answer->ticket == asked.ticket);
        tags.push_back(asked.tag);
    });
    std::sort(tags.begin(), tags.end());
    EXPECT_EQ(tags, (std::vector<std::uint32_t>{10, 20}));
    EXPECT_TRUE(pending.holds(7)) << "until it has been decided";
    pending.finish(packet);
    EXPECT_FALSE(pending.holds(7));
    EXPECT_TRUE(pending.empty());
    EXPECT_FALSE(pending.take_answer(yes(second))) << "a turn that is over";
}

TEST(PendingPackets, ThoseBehindWaitForThoseBefore) {
    PendingPackets pending{kBounds};
    const PendingSlot first = pending.enter(7, kStart);
    const Ticket ticket = *pending.ask(first, 0);
    pending.begin_waiting(first);
    const PendingSlot second = pending.enter(7, kStart);
    pending.begin_waiting(second);
    const PendingSlot other = pending.enter(8, kStart);
    pending.begin_waiting(other);
    EXPECT_EQ(pending.take_ready(), other);
    EXPECT_EQ(pending.take_ready(), kNoPendingSlot);
    EXPECT_TRUE(pending.take_answer(yes(ticket)));
    EXPECT_EQ(pending.take_ready(), first);
    EXPECT_EQ(pending.take_ready(), second) << "in one burst with the one before it";
    pending.finish(first);
    EXPECT_TRUE(pending.holds(7));
    pending.finish(second);
    EXPECT_FALSE(pending.holds(7));
}

TEST(PendingPackets, NobodyWaitsForeverAndTheRoomIsBounded) {
    PendingPackets pending{kBounds};
    for (std::uint64_t i = 0; i < kBounds.packets; ++i) {
        const PendingSlot packet = pending.enter(i, kStart + Nanoseconds{i});
        ASSERT_NE(packet, kNoPendingSlot);
        EXPECT_TRUE(pending.ask(packet, 0));
        pending.begin_waiting(packet);
    }
    EXPECT_EQ(pending.enter(99, kStart), kNoPendingSlot);
    EXPECT_EQ(pending.free_questions(), kBounds.questions - kBounds.packets);
    pending.expire(kStart + kBounds.longest + 1ns);
    const PendingSlot first = pending.take_ready();
    const PendingSlot second = pending.take_ready();
    EXPECT_EQ(pending.take_ready(), kNoPendingSlot);
    pending.for_each_question(
        first, [](const PendingPackets::Asked& asked) { EXPECT_EQ(asked.answer, nullptr); });
    pending.finish(first);
    pending.finish(second);
    pending.end_waits();
    for (std::size_t left = kBounds.packets - 2; left > 0; --left) {
        const PendingSlot packet = pending.take_ready();
        ASSERT_NE(packet, kNoPendingSlot);
        pending.finish(packet);
    }
    EXPECT_TRUE(pending.empty());
    EXPECT_EQ(pending.free_questions(), kBounds.questions);
}

// Every packet in a list, and nothing remembered that could be worked out.
struct Model {
    struct Question {
        Ticket ticket;
        bool answered = false;
    };
    struct One {
        PendingSlot place;
        std::uint64_t connection;
        Instant until;
        std::vector<Question> questions;
        bool over = false;
        bool taken = false;

        [[nodiscard]] bool done() const {
            return over || std::all_of(questions.begin(), questions.end(),
                                       [](const Question& one) { return one.answered; });
        }
    };
    std::vector<One> all;  // in the order in which they came

    [[nodiscard]] bool may_be_taken(const One& one) const {
        for (const One& other : all) {
            if (&other == &one) {
                return one.done() && !one.taken;
            }
            if (other.connection == one.connection && !other.taken) {
                return false;
            }
        }
        return false;
    }
    [[nodiscard]] bool any_may_be_taken() const {
        return std::any_of(all.begin(), all.end(),
                           [this](const One& one) { return may_be_taken(one); });
    }
    [[nodiscard]] std::size_t questions() const {
        std::size_t count = 0;
        for (const One& one : all) {
            count += one.questions.size();
        }
        return count;
    }
};

class Course {
public:
    explicit Course(unsigned seed) : random_{seed} {}

    void step() {
        now_ += Nanoseconds{below(12)};
        switch (below(5)) {
            case 0:
            case 1:
                return enter();
            case 2:
                return answer();
            case 3:
                return take();
            default:
                return finish();
        }
    }
    void check() const {
        ASSERT_EQ(pending_.size(), model_.all.size());
        ASSERT_EQ(pending_.free_questions(), kBounds.questions - model_.questions());
        for (std::uint64_t connection = 0; connection < kConnections; ++connection) {
            const bool held = std::any_of(
                model_.all.begin(), model_.all.end(),
                [&](const Model::One& one) { return one.connection == connection * kApart; });
            ASSERT_EQ(pending_.holds(connection * kApart), held);
        }
    }

private:
    static constexpr std::uint64_t kConnections = 4;
    static constexpr std::uint64_t kApart = 16;  // they share their chain, two by two at least

    std::uint64_t below(std::uint64_t count) { return random_() % count; }

    void enter() {
        const std::uint64_t connection = below(kConnections) * kApart;
        const PendingSlot place = pending_.enter(connection, now_);
        ASSERT_EQ(place == kNoPendingSlot, model_.all.size() == kBounds.packets);
        if (place == kNoPendingSlot) {
            return;
        }
        Model::One one{place, connection, now_ + kBounds.longest, {}};
        for (std::uint64_t left = below(4); left > 0; --left) {
            const bool room = model_.questions() + one.questions.size() < kBounds.questions;
            const std::optional<Ticket> ticket = pending_.ask(place, 0);
            ASSERT_EQ(ticket.has_value(), room);
            if (ticket) {
                one.questions.push_back({*ticket});
            }
        }
        pending_.begin_waiting(place);
        model_.all.push_back(one);
    }
    void answer() {
        if (model_.all.empty()) {
            return;
        }
        Model::One& one = model_.all[below(model_.all.size())];
        for (Model::Question& question : one.questions) {
            if (below(3) != 0) {
                ASSERT_EQ(pending_.take_answer(yes(question.ticket)), !question.answered);
                question.answered = true;
            }
            Ticket over = question.ticket;
            --over.turn;
            ASSERT_FALSE(pending_.take_answer(yes(over)));
        }
    }
    void take() {
        pending_.expire(now_);
        for (Model::One& one : model_.all) {
            one.over |= one.until <= now_;
        }
        const bool any = model_.any_may_be_taken();
        const PendingSlot place = pending_.take_ready();
        ASSERT_EQ(place != kNoPendingSlot, any);
        if (any) {
            const auto at = std::find_if(model_.all.begin(), model_.all.end(),
                                         [&](const Model::One& one) { return one.place == place; });
            ASSERT_NE(at, model_.all.end());
            ASSERT_TRUE(model_.may_be_taken(*at));
            at->taken = true;
        }
    }
    // In any order: a burst may hold several.
    void finish() {
        std::vector<std::size_t> taken;
        for (std::size_t i = 0; i < model_.all.size(); ++i) {
            if (model_.all[i].taken) {
                taken.push_back(i);
            }
        }
        if (taken.empty()) {
            return;
        }
        const std::size_t at = taken[below(taken.size())];
        pending_.finish(model_.all[at].place);
        model_.all.erase(model_.all.begin() + static_cast<std::ptrdiff_t>(at));
    }

    std::mt19937 random_;
    PendingPackets pending_{kBounds};
    Model model_;
    Instant now_ = kStart;
};

TEST(PendingPackets, IsWhatASlowModelSays) {
    for (unsigned seed = 1; seed <= 100; ++seed) {
        Course course{seed};
        for (int step = 0; step < 2'000; ++step) {
            course.step();
            course.check();
            ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << " step " << step;
        }
    }
}

}  // namespace
}  // namespace sluice::pending_packets_test
