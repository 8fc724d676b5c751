#pragma once
#include <atomic>
#include <cstdint>

// One question at a time from one thread to one worker, and its answer back:
//
//            post()              serve()              answer is there
//   Empty ----------> Posted ------------> Taken -----------------> Answered
//     ^                  | withdraw()                                   |
//     `------------------+-------------------------- take() ------------'
//
// The worker polls; while the box is empty a poll is one load of a line that it holds. The asking
// thread waits as long as it chooses, without a lock, and learns whether a question that it
// withdraws was begun.
namespace sluice {

template <typename Question, typename Answer>
class Mailbox {
public:
    // The asking thread, one only.

    // False: the worker has not finished an earlier question, which was given up.
    [[nodiscard]] bool post(const Question& question) noexcept {
        const State state = state_.load(std::memory_order_acquire);
        if (state != State::Empty && state != State::Answered) {
            return false;
        }
        question_ = question;
        state_.store(State::Posted, std::memory_order_release);
        return true;
    }
    // False: there is no answer yet.
    [[nodiscard]] bool take(Answer& answer) noexcept {
        if (state_.load(std::memory_order_acquire) != State::Answered) {
            return false;
        }
        answer = answer_;
        state_.store(State::Empty, std::memory_order_relaxed);
        return true;
    }
    // True: the question is withdrawn unread. False: it has been begun.
    [[nodiscard]] bool withdraw() noexcept {
        State posted = State::Posted;
        return state_.compare_exchange_strong(posted, State::Empty, std::memory_order_acq_rel);
    }

    // The worker.

    // Answers what is there: `fn(question)` gives the answer.
    template <typename Fn>
    void serve(Fn&& fn) noexcept {
        if (state_.load(std::memory_order_relaxed) == State::Posted) [[unlikely]] {
            serve_slow(fn);
        }
    }

private:
    enum class State : std::uint8_t { Empty, Posted, Taken, Answered };

    template <typename Fn>
    [[gnu::noinline, gnu::cold]] void serve_slow(Fn& fn) noexcept {
        State posted = State::Posted;
        if (state_.compare_exchange_strong(posted, State::Taken, std::memory_order_acq_rel)) {
            answer_ = fn(question_);
            state_.store(State::Answered, std::memory_order_release);
        }
    }

    alignas(64) std::atomic<State> state_{State::Empty};
    Question question_{};
    Answer answer_{};
};

}  // namespace sluice
