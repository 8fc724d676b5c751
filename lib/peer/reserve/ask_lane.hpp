#pragma once
#include "lib/peer/reserve/message.hpp"
#include "lib/share/record_ring.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace sluice {

// From one asker to one owner: questions there, answers back.
struct AskLane {
    explicit AskLane(std::size_t size) : questions{size}, answers{size} {}

    RecordRing<Question> questions;
    RecordRing<Answer> answers;
};

// False: the ring has no room.
template <typename Message>
[[nodiscard]] bool put(RecordRing<Message>& ring, const Message& message) noexcept {
    Message* const record = ring.next();
    if (record == nullptr) {
        return false;
    }
    *record = message;
    ring.commit();
    return true;
}

// One lane for each ordered pair of workers, a worker and itself among them: what it owns itself is
// asked as what others own is.
class AskLanes {
public:
    AskLanes(std::size_t workers, std::size_t ring_size) : workers_{workers} {
        lanes_.reserve(workers * workers);
        for (std::size_t i = 0; i < workers * workers; ++i) {
            lanes_.push_back(std::make_unique<AskLane>(ring_size));
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

// Messages a ring holds: much for few workers, and for many no more memory than for few.
[[nodiscard]] constexpr std::size_t ask_lane_size(std::size_t workers) noexcept {
    std::size_t size = 1024;
    while (size > 64 && size * workers > 8192) {
        size /= 2;
    }
    return size;
}

// Questions of one asker that are open at a time, for as much memory at their owners.
[[nodiscard]] constexpr std::size_t most_questions(std::size_t workers) noexcept {
    std::size_t questions = 1024;
    while (questions > 128 && questions * workers > 8192) {
        questions /= 2;
    }
    return questions;
}

}  // namespace sluice
