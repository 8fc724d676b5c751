#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// A request that was forwarded, as the framing of its answer depends on it.
enum class AskedMethod : std::uint8_t { Other, Head, Connect };
struct AskedRequest {
    AskedMethod method = AskedMethod::Other;
    // The request asks for another protocol, which is passed unread once the server agrees.
    bool passes_upgrade = false;

    [[nodiscard]] bool operator==(const AskedRequest&) const noexcept = default;
};

// Requests of one connection in their order, the oldest one first: up to 16 whatever they are, and
// more as long as they are up to three runs of equal ones, as pipelining clients send them.
//
//     list of up to 16     kind kind kind ...       3 bits each, the oldest one lowest
//     runs                 [kind count] x 1 to 3    3 and 13 bits each
class AskedRequests {
public:
    static constexpr unsigned kMostListed = 16;
    static constexpr unsigned kMostRuns = 3;
    static constexpr unsigned kMostOfRun = (1U << 13U) - 1;

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    // True if HEAD was among all that have been pushed.
    [[nodiscard]] bool has_asked_head() const noexcept { return has_asked_head_ != 0; }
    // False: there is no room, and nothing has changed.
    [[nodiscard]] bool push(AskedRequest request) noexcept;
    // There is one.
    [[nodiscard]] AskedRequest front() const noexcept;
    void pop() noexcept;

private:
    // Up to kMostListed: listed; beyond: as many runs.
    [[nodiscard]] bool has_runs() const noexcept { return size_ > kMostListed; }
    [[nodiscard]] unsigned runs() const noexcept { return size_ - kMostListed; }
    [[nodiscard]] bool push_run(unsigned kind, unsigned count) noexcept;
    [[nodiscard]] bool make_runs() noexcept;
    void make_list() noexcept;
    [[nodiscard]] unsigned total() const noexcept;
    [[nodiscard]] std::uint64_t word() const noexcept;
    void set_word(std::uint64_t word) noexcept;

    std::array<std::uint8_t, 6> word_{};
    std::uint8_t size_ : 7 = 0;
    std::uint8_t has_asked_head_ : 1 = 0;
};
static_assert(sizeof(AskedRequests) == 7, "a part of what is kept of each connection");

}  // namespace sluice
