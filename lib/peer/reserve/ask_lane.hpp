#pragma once
#include "lib/peer/link/links.hpp"
#include "lib/peer/reserve/message.hpp"
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

    [[nodiscard]] std::size_t workers() const noexcept { return workers_; }
    [[nodiscard]] AskLane& between(std::size_t asker, std::size_t owner) noexcept {
        return *lanes_[asker * workers_ + owner];
    }

private:
    std::size_t workers_;
    std::vector<std::unique_ptr<AskLane>> lanes_;
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
