#pragma once
#include "control/simulation/course.hpp"
#include "control/simulation/load.hpp"
#include "lib/bucket/meter/any_limit.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sluice {

// Units of one stretch of time.
struct Bar {
    std::uint64_t offered = 0;
    std::uint64_t green = 0;
    std::uint64_t yellow = 0;
    std::uint64_t refused = 0;
    std::uint64_t leaving = 0;  // leaky bucket: out of its queue

    [[nodiscard]] std::uint64_t admitted() const { return green + yellow; }
    [[nodiscard]] bool operator==(const Bar&) const = default;
};

struct Outcome {
    std::vector<Bar> bars;
    Bar total;
    std::uint64_t waiting = 0;  // of the backlog, or stalled, at the end
    std::uint64_t most_in_window = 0;
    std::optional<Instant> last_admitted;
    bool cut = false;      // ended by kMostBars, most_arrivals or kLongestRun
    bool stopped = false;  // ended by whoever watched it
};

// The end of one arrival.
enum class Fate : std::uint8_t { Admitted, Yellow, Delayed, Refused, Waiting };
struct Decided {
    Instant arrived{};  // of a backlog, when it was asked for
    Instant passes{};   // out of a leaky bucket's queue, or when somebody was asked again
    std::uint64_t units = 0;
    Fate fate = Fate::Admitted;
};

// Somebody who sees a run as it goes on.
class RunWatcher {
public:
    using LeftAt = std::function<std::uint64_t(Instant)>;

    RunWatcher() = default;
    RunWatcher(const RunWatcher&) = delete;
    RunWatcher& operator=(const RunWatcher&) = delete;
    virtual ~RunWatcher() = default;

    // Ahead of the demand at `at`, and at the end: `left` tells what the bucket has at any instant
    // from the last call to this one.
    virtual void before(Instant at, const LeftAt& left) = 0;
    // The bucket was asked at `asked` and has `left` now.
    virtual void decided(const Decided& decision, Instant asked, std::uint64_t left) = 0;
    // False: the run ends here.
    [[nodiscard]] virtual bool goes_on() = 0;
};

// One bucket under this limit, under this load on a virtual clock that starts at 0 s; UTC is
// `course.start` then.
[[nodiscard]] Outcome simulate(const AnyLimit& limit, const Load& load, const Course& course,
                               RunWatcher* watcher = nullptr);

}  // namespace sluice
