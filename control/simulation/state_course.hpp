#pragma once
#include "control/simulation/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

inline constexpr std::size_t kMostStateColumns = 600;  // even

// A bucket's units left over the time of a run, in columns of equal length that become longer as
// the run does.
class StateCourse {
public:
    struct Column {
        std::uint64_t left = 0;   // as the column begins, ahead of what comes just then
        std::uint64_t least = 0;  // in the column
        [[nodiscard]] bool operator==(const Column&) const noexcept = default;
    };

    explicit StateCourse(Nanoseconds first_step) : step_{first_step} {}

    // Columns that begin at `at` or before.
    void fill(Instant at, const RunWatcher::LeftAt& left);
    // At an instant up to which it was filled.
    void note(Instant at, std::uint64_t left);

    [[nodiscard]] Nanoseconds step() const noexcept { return step_; }
    [[nodiscard]] const std::vector<Column>& columns() const noexcept { return columns_; }

private:
    void halve();

    Nanoseconds step_;
    std::vector<Column> columns_;
};

}  // namespace sluice
