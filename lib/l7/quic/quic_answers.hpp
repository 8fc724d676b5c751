#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// Times of the last long header from a server, by path: the answers to hellos, which stand in
// clear. A place is shared by all paths whose digests end alike: another's answer may be taken for
// one's own, never the other way, and nothing is ever forgotten for something newer.
class QuicAnswers {
public:
    // Aborts if there is no memory. Nothing is allocated later.
    explicit QuicAnswers(std::size_t connections);
    [[nodiscard]] static std::uint64_t memory_of(std::size_t connections) noexcept;

    void note_answer(std::uint64_t path, std::uint32_t ticks) noexcept {
        at(path).answer = stamp_of(ticks);
    }
    // A Retry is no answer: its server keeps nothing of the hello.
    void note_retry(std::uint64_t path, std::uint32_t ticks) noexcept {
        at(path).retry = stamp_of(ticks);
    }

    // The id that a server chose in an answer, by the digest of it and of the path: whoever names
    // it was told. Another one's may take its place.
    void note_id(std::uint64_t id) noexcept { ids_[id & (ids_.size() - 1)] = id; }
    [[nodiscard]] bool has_id(std::uint64_t id) const noexcept {
        return ids_[id & (ids_.size() - 1)] == id;
    }

    // An answer came in the last `age` ticks before `ticks`, or in the tick in which they began.
    [[nodiscard]] bool answered_within(std::uint64_t path, std::uint32_t age,
                                       std::uint32_t ticks) const noexcept {
        return is_within(at(path).answer, age, ticks);
    }
    [[nodiscard]] bool retried_within(std::uint64_t path, std::uint32_t age,
                                      std::uint32_t ticks) const noexcept {
        return is_within(at(path).retry, age, ticks);
    }

private:
    struct Place {
        std::uint32_t answer = 0;
        std::uint32_t retry = 0;
    };

    // A stamp of 0 stands for never.
    [[nodiscard]] static std::uint32_t stamp_of(std::uint32_t ticks) noexcept {
        return ticks + 1 == 0 ? 1 : ticks + 1;
    }
    [[nodiscard]] static bool is_within(std::uint32_t stamp, std::uint32_t age,
                                        std::uint32_t ticks) noexcept {
        return stamp != 0 && ticks - (stamp - 1) <= age;
    }
    [[nodiscard]] Place& at(std::uint64_t path) noexcept {
        return places_[path & (places_.size() - 1)];
    }
    [[nodiscard]] const Place& at(std::uint64_t path) const noexcept {
        return places_[path & (places_.size() - 1)];
    }

    std::vector<Place> places_;       // a power of two
    std::vector<std::uint64_t> ids_;  // as many
};

}  // namespace sluice
