#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sluice::pktgen {

// What was sent and what arrived, of one direction.
struct OneWay {
    double attained = 0;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
};

// What came of sending at one rate for a while.
struct TrialOutcome {
    double asked = 0;  // frames a second; 0: as fast as the port takes them
    double attained = 0;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t foreign = 0;  // that arrived and are none of these
    std::uint64_t refused = 0;  // bursts that the port did not take whole
    double longest_pause = 0;   // in seconds, of the generator itself
    bool passed = false;
    std::string_view why;  // it did not: `lost`, `not sent`, `nothing sent`
    std::optional<OneWay> back;
};

struct SearchPlan {
    double highest = 0;  // frames a second, each way; 0: what a first trial without a rate attains
    double tolerance = 0.01;  // of the highest: how far apart the last two rates are
    double loss = 0;          // the share that may be lost
    double attained = 0.99;   // the share of the rate that must have been sent
    unsigned repeats = 0;     // how often a trial that failed is tried again
};

struct SearchResult {
    double rate = 0;  // the highest that passed; 0: none did
    double highest = 0;
    bool interrupted = false;
    std::vector<TrialOutcome> trials;
};

// Why one way did not pass; empty: it did.
inline std::string_view fault_of(const OneWay& way, double asked, const SearchPlan& plan) {
    const double lost = way.received < way.sent ? static_cast<double>(way.sent - way.received) : 0;
    if (way.sent == 0) {
        return "nothing sent";
    }
    if (lost > plan.loss * static_cast<double>(way.sent)) {
        return "lost";
    }
    return way.attained < plan.attained * asked ? "not sent" : "";
}

// Whether that is a rate which the device holds, each way that was sent: RFC 2544, 26.1.
inline void judge(TrialOutcome& trial, const SearchPlan& plan) {
    trial.why = fault_of({trial.attained, trial.sent, trial.received}, trial.asked, plan);
    if (trial.why.empty() && trial.back) {
        trial.why = fault_of(*trial.back, trial.asked, plan);
    }
    trial.passed = trial.why.empty();
}

// The throughput of RFC 2544 by bisection. `run(rate)` sends at a rate and returns what came of it
// (asked, attained, sent, received); `is_over()` says that the user wants the end.
template <typename Run, typename IsOver>
SearchResult search_throughput(const SearchPlan& plan, Run&& run, IsOver&& is_over) {
    SearchResult result;
    // A trial and its repeats; the last of them.
    const auto attempt = [&](double rate) {
        for (unsigned time = 0;; ++time) {
            TrialOutcome trial = run(rate);
            if (is_over()) {
                result.interrupted = true;
                return trial;
            }
            judge(trial, plan);
            result.trials.push_back(trial);
            if (trial.passed || time == plan.repeats) {
                return trial;
            }
        }
    };
    const TrialOutcome first = attempt(plan.highest);
    const double least =
        first.back ? std::min(first.attained, first.back->attained) : first.attained;
    result.highest = plan.highest != 0 ? plan.highest : least;
    if (first.passed) {
        result.rate = result.highest;
        return result;
    }
    double low = 0;
    double high = result.highest;
    while (!result.interrupted && high > 0 && high - low > plan.tolerance * result.highest) {
        const double rate = (low + high) / 2;
        (attempt(rate).passed ? low : high) = rate;
    }
    result.rate = low;
    return result;
}

}  // namespace sluice::pktgen
