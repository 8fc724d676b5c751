#include "control/simulation/engine.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/gcra.hpp"

#include <algorithm>
#include <deque>

namespace sluice {
namespace {

// The most units in any window that ends with one of them.
class MostInWindow {
public:
    explicit MostInWindow(Nanoseconds window) : window_{window} {}

    void add(Instant at, std::uint64_t units) {
        while (!recent_.empty() && recent_.front().at + window_ <= at) {
            sum_ -= recent_.front().units;
            recent_.pop_front();
        }
        if (recent_.empty() || recent_.back().at != at) {
            recent_.push_back({at, 0});
        }
        recent_.back().units += units;
        sum_ += units;
        most_ = std::max(most_, sum_);
    }
    [[nodiscard]] std::uint64_t most() const { return most_; }

private:
    struct Admitted {
        Instant at;
        std::uint64_t units;
    };
    Nanoseconds window_;
    std::deque<Admitted> recent_;
    std::uint64_t sum_ = 0;
    std::uint64_t most_ = 0;
};

class Simulation {
public:
    Simulation(const AnyLimit& limit, const Course& course, RunWatcher* watcher)
        : limit_{limit},
          course_{course},
          watcher_{watcher},
          end_{Instant{} + std::min({course.duration.value_or(kLongestRun), kLongestRun,
                                     course.bar * static_cast<std::int64_t>(kMostBars)})},
          most_{course.window},
          pool_{counting_of(limit) == Counting::Bucket ? 0 : course.lines} {
        const GroupKey key{course.seed * 0x9E37'79B9'7F4A'7C15};
        (void)open_bucket(cell_, limit_, pool_, key, now(Instant{}));
    }

    void run(const Load& load) {
        if (load.backlog) {
            let_through(*load.backlog, load.cost);
        } else {
            ask_once_each(load.arrivals);
        }
        out_.most_in_window = most_.most();
        fill_up_to_end();
        watch(course_.duration ? end_ : last_);
    }
    [[nodiscard]] Outcome take() { return std::move(out_); }

private:
    [[nodiscard]] Now now(Instant at) const { return {.at = at, .utc_ahead = course_.start}; }
    [[nodiscard]] std::uint64_t left_at(Instant at) const {
        return remaining(cell_, limit_, pool_, now(at)).count();
    }

    void watch(Instant at) {
        if (watcher_ != nullptr) {
            watcher_->before(at, left_);
        }
    }
    void tell(const Decided& decision, Instant asked) {
        last_ = std::max(last_, std::max(asked, decision.passes));
        if (watcher_ != nullptr) {
            watcher_->decided(decision, asked, left_at(asked));
        }
    }
    // True if whoever watches has seen enough.
    bool is_stopped() {
        out_.stopped = watcher_ != nullptr && !watcher_->goes_on();
        return out_.stopped;
    }

    Bar& bar_at(Instant at) {
        const auto index = static_cast<std::size_t>(at.time_since_epoch() / course_.bar);
        if (index >= out_.bars.size()) {
            out_.bars.resize(index + 1);
        }
        return out_.bars[index];
    }

    // The first instant from `at` on outside every stall.
    [[nodiscard]] Instant after_stalls(Instant at) const {
        for (const Stall& stall : course_.stalls) {
            if (stall.from <= at && at < stall.end()) {
                at = stall.end();
            }
        }
        return at;
    }
    // The same, at a multiple of `beat`.
    [[nodiscard]] Instant next_ask(Instant from, Nanoseconds beat) const {
        Instant at = from;
        do {
            from = after_stalls(at);
            const std::int64_t beats = (from.time_since_epoch() + beat - Nanoseconds{1}) / beat;
            at = Instant{beats * beat};
        } while (at != after_stalls(at));
        return at;
    }

    void let_through(const Backlog& backlog, Units cost) {
        std::uint64_t waiting = backlog.units;
        offer(Instant{}, backlog.units * cost.count());
        Instant at = next_ask(Instant{}, backlog.ask_every);
        while (waiting != 0 && at < end_ && !is_stopped()) {
            watch(at);
            if (ask(at, at, {cost})) {
                --waiting;
                continue;
            }
            const auto pause = wait(cell_, limit_, pool_, now(at), {cost});
            if (!pause) {
                break;
            }
            at = next_ask(at + std::max(*pause, Nanoseconds{1}), backlog.ask_every);
        }
        out_.waiting = waiting * cost.count();
        out_.cut = waiting != 0 && at >= end_ && !course_.duration;
    }

    void ask_once_each(const Arrivals& arrivals) {
        std::uint64_t count = 0;
        for (auto arrival = arrivals(); arrival && !is_stopped(); arrival = arrivals()) {
            const bool late = arrival->at >= end_;
            if (late || ++count > course_.most_arrivals) {
                out_.cut = !late || !course_.duration;
                return;
            }
            ask_once(*arrival);
        }
    }

    void ask_once(const Arrival& arrival) {
        const Instant asked = after_stalls(arrival.at);
        const std::uint64_t units = arrival.cost.count();
        offer(arrival.at, units);
        if (asked >= end_) {
            out_.waiting += units;
            tell({arrival.at, arrival.at, units, Fate::Waiting}, arrival.at);
            return;
        }
        watch(asked);
        if (!ask(arrival.at, asked, {arrival.cost, arrival.color})) {
            bar_at(asked).refused += units;
            out_.total.refused += units;
            tell({arrival.at, asked, units, Fate::Refused}, asked);
        }
    }

    void offer(Instant at, std::uint64_t units) {
        bar_at(at).offered += units;
        out_.total.offered += units;
    }

    // Asks at `at` for what came at `arrived`.
    bool ask(Instant arrived, Instant at, Demand demand) {
        const Conformance said = check(cell_, limit_, pool_, now(at), demand);
        if (said == Conformance::Red || said == Conformance::NoRoom) {
            return false;
        }
        const std::uint64_t units = demand.cost.count();
        Instant passes = at;
        if (std::holds_alternative<LeakyBucketLimit>(limit_)) {
            passes = departure({cell_.fresh_from, cell_.rest}, at);
            leave(passes, units);
        }
        charge(cell_, limit_, pool_, now(at), {demand.cost, said});
        const bool green = said == Conformance::Green;
        (green ? bar_at(at).green : bar_at(at).yellow) += units;
        (green ? out_.total.green : out_.total.yellow) += units;
        most_.add(at, units);
        out_.last_admitted = at;
        const Fate fate = passes > arrived ? Fate::Delayed : green ? Fate::Admitted : Fate::Yellow;
        tell({arrived, passes, units, fate}, at);
        return true;
    }

    // Units that leave after the end are not shown.
    void leave(Instant at, std::uint64_t units) {
        if (at < end_) {
            bar_at(at).leaving += units;
            out_.total.leaving += units;
        }
    }

    // Bars in which nothing happened belong to a run of a given length.
    void fill_up_to_end() {
        if (course_.duration) {
            (void)bar_at(std::max(end_ - Nanoseconds{1}, Instant{}));
        }
    }

    const AnyLimit& limit_;
    const Course& course_;
    RunWatcher* watcher_;
    RunWatcher::LeftAt left_ = [this](Instant at) { return left_at(at); };
    Instant end_;
    Instant last_{};  // of all that has happened
    MostInWindow most_;
    LinePool pool_;
    Cell cell_;
    Outcome out_;
};

}  // namespace

Outcome simulate(const AnyLimit& limit, const Load& load, const Course& course,
                 RunWatcher* watcher) {
    Simulation simulation{limit, course, watcher};
    simulation.run(load);
    return simulation.take();
}

}  // namespace sluice
