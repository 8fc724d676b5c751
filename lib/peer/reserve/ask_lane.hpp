#pragma once
#include "lib/peer/link/links.hpp"
#include "lib/peer/reserve/message.hpp"
#include "lib/peer/reserve/store_question.hpp"
#include "lib/share/kept_ring.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace sluice {

// From one asker to one owner: questions there, answers back.
struct AskLane {
    AskLane(Links& links, std::size_t asker, std::size_t owner)
        : questions{links.place(asker, owner, LinkRing::Questions)},
          answers{links.place(owner, asker, LinkRing::Answers)} {}

    KeptRing<Question> questions;
    KeptRing<Answer> answers;
};

// From one worker to the store of its box's cluster, over a link of their own.
class StoreAskLane {
public:
    static constexpr std::size_t kRing = 1024;

    StoreAskLane()
        : links_{2, {.reserve = kRing}},
          questions{links_.place(0, 1, LinkRing::Questions)},
          answers{links_.place(1, 0, LinkRing::Answers)} {}

private:
    Links links_;

public:
    KeptRing<StoreQuestion> questions;
    KeptRing<Answer> answers;
};

// One lane for each ordered pair of workers, a worker and itself among them: what it owns itself is
// asked as what others own is. Over their links, which outlive it.
class AskLanes {
public:
    explicit AskLanes(Links& links) : workers_{links.workers()} {
        lanes_.reserve(workers_ * workers_);
        for (std::size_t asker = 0; asker < workers_; ++asker) {
            for (std::size_t owner = 0; owner < workers_; ++owner) {
                lanes_.push_back(std::make_unique<AskLane>(links, asker, owner));
            }
        }
    }

    // A lane of each worker to the store; before any worker is made.
    void open_store() {
        for (std::size_t worker = 0; worker < workers_; ++worker) {
            store_.push_back(std::make_unique<StoreAskLane>());
        }
    }
    // nullptr: the box is in no cluster.
    [[nodiscard]] StoreAskLane* store(std::size_t worker) noexcept {
        return store_.empty() ? nullptr : store_[worker].get();
    }

    [[nodiscard]] std::size_t workers() const noexcept { return workers_; }
    [[nodiscard]] AskLane& between(std::size_t asker, std::size_t owner) noexcept {
        return *lanes_[asker * workers_ + owner];
    }

private:
    std::size_t workers_;
    std::vector<std::unique_ptr<AskLane>> lanes_;
    std::vector<std::unique_ptr<StoreAskLane>> store_;  // by worker; empty: there is none
};

// Questions of one asker that are open at a time, for as much memory at their owners.
[[nodiscard]] constexpr std::size_t most_questions(std::size_t workers) noexcept {
    std::size_t questions = 1024;
    while (questions > 128 && questions * workers > 8192) {
        questions /= 2;
    }
    return questions;
}

}  // namespace sluice
