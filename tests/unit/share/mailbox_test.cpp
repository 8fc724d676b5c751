#include "lib/share/mailbox.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace sluice::mailbox_test {
namespace {

using Doubler = Mailbox<std::uint64_t, std::uint64_t>;

void serve(Doubler& box) {
    box.serve([](std::uint64_t asked) { return asked * 2; });
}

TEST(Mailbox, AnswersEachQuestionOnce) {
    Doubler box;
    std::uint64_t answer = 0;
    EXPECT_FALSE(box.take(answer));
    serve(box);  // nothing is there
    EXPECT_TRUE(box.post(21));
    EXPECT_FALSE(box.take(answer));
    EXPECT_FALSE(box.post(22)) << "the first has not been answered";
    serve(box);
    EXPECT_TRUE(box.take(answer));
    EXPECT_EQ(answer, 42U);
    EXPECT_FALSE(box.take(answer));
    int served = 0;
    box.serve([&](std::uint64_t) { return std::uint64_t(++served); });
    EXPECT_EQ(served, 0);
}

TEST(Mailbox, AWithdrawnQuestionIsNeverSeen) {
    Doubler box;
    EXPECT_TRUE(box.post(1));
    EXPECT_TRUE(box.withdraw());
    int served = 0;
    box.serve([&](std::uint64_t) { return std::uint64_t(++served); });
    EXPECT_EQ(served, 0);
    EXPECT_TRUE(box.post(2));
}

TEST(Mailbox, WhatHasBegunCannotBeWithdrawnAndItsAnswerIsNobodysElse) {
    Doubler box;
    EXPECT_TRUE(box.post(1));
    box.serve([&](std::uint64_t asked) {
        EXPECT_FALSE(box.withdraw());
        EXPECT_FALSE(box.post(5));
        return asked * 2;
    });
    // Nobody has waited for it.
    EXPECT_TRUE(box.post(3));
    std::uint64_t answer = 0;
    EXPECT_FALSE(box.take(answer));
    serve(box);
    EXPECT_TRUE(box.take(answer));
    EXPECT_EQ(answer, 6U);
}

// Each question is answered, or withdrawn and not begun: whichever, both sides agree.
TEST(Mailbox, BothSidesAgreeAcrossThreads) {
    Mailbox<std::uint64_t, std::uint64_t> box;
    std::atomic<bool> stop{false};
    std::uint64_t done = 0;  // of the worker
    std::thread worker{[&] {
        while (!stop.load()) {
            box.serve([&](std::uint64_t asked) {
                ++done;
                return asked + 1;
            });
            std::this_thread::yield();
        }
    }};
    std::uint64_t answered = 0;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        ASSERT_TRUE(box.post(i));
        std::uint64_t answer = 0;
        if (i % 3 == 0 && box.withdraw()) {
            continue;
        }
        while (!box.take(answer)) {
            std::this_thread::yield();
        }
        ASSERT_EQ(answer, i + 1);
        ++answered;
    }
    stop.store(true);
    worker.join();
    EXPECT_EQ(done, answered);
}

}  // namespace
}  // namespace sluice::mailbox_test
