#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

// Sides of a comparison, measured in turn: A B A B. Every round is kept and printed, none
// discarded; what counts is the median.
namespace sluice::bench {

struct Side {
    std::string name;
    std::function<double()> measure;  // ns per operation
    std::vector<double> rounds{};

    [[nodiscard]] double median() const {
        std::vector<double> sorted = rounds;
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }
};

inline void run_rounds(std::vector<Side>& sides, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        for (Side& side : sides) {
            side.rounds.push_back(side.measure());
        }
    }
}

// Wall time of `work`, ns, for each of `count` operations.
template <typename Work>
double ns_per(std::size_t count, Work&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const auto took = std::chrono::steady_clock::now() - start;
    return std::chrono::duration<double, std::nano>{took}.count() / static_cast<double>(count);
}

// Time that this thread ran, ns, for each of `count` operations: what others do on the machine
// tells less in it than in wall time.
template <typename Work>
double cpu_ns_per(std::size_t count, Work&& work) {
    const auto now = [] {
        timespec time{};
        (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
    };
    const double start = now();
    work();
    return (now() - start) / static_cast<double>(count);
}

inline std::string list_of(const std::vector<double>& rounds) {
    std::string text = "[";
    for (const double round : rounds) {
        char number[32];
        std::snprintf(number, sizeof(number), "%s%.3f", text.size() == 1 ? "" : ", ", round);
        text += number;
    }
    return text + "]";
}

}  // namespace sluice::bench
