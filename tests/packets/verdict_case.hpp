#pragma once
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/openings.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

inline constexpr Instant kStart{std::chrono::hours{1}};

struct Step {
    Nanoseconds at;
    Frame in;
    std::string_view verdict;
    std::string_view reason;
    std::string_view rule = "";
    Nanoseconds wait{};
};

struct Case {
    std::string_view name;
    std::string_view rules;
    std::vector<Step> steps;
};

inline std::ostream& operator<<(std::ostream& out, const Case& row) {
    return out << row.name;
}

inline void expect_step(Box& box, const Step& step) {
    const Decision got = box.judge(step.in, kStart + step.at);
    EXPECT_EQ(name_of(got.verdict), step.verdict);
    EXPECT_EQ(row_of(got.reason).name, step.reason);
    EXPECT_EQ(box.rule_name(got), step.rule);
    EXPECT_EQ(got.wait, step.wait);
}
// One packet after the other.
inline void expect_steps(Box& box, const Case& row) {
    int number = 0;
    for (const Step& step : row.steps) {
        SCOPED_TRACE("step " + std::to_string(number++));
        expect_step(box, step);
    }
}
// The segment of its connection that comes first in the stream.
[[nodiscard]] inline Frame first_of_stream(const Case& row, const Frame& segment) {
    Frame first = segment;
    for (const Step& step : row.steps) {
        if (step.in.is_segment() && step.in.goes_with(segment) && step.in.is_before(first)) {
            first = step.in;
        }
    }
    return first;
}
// Steps whose connections each begin with a SYN: one that no step sends comes before the first
// bytes, and no rule is asked of it.
inline void expect_opened_steps(Box& box, const Case& row) {
    Openings openings;
    int number = 0;
    for (const Step& step : row.steps) {
        SCOPED_TRACE("step " + std::to_string(number++));
        if (openings.needs(step.in)) {
            box.open(first_of_stream(row, step.in), kStart + step.at);
        }
        expect_step(box, step);
    }
}
inline void expect_case(const Case& row) {
    Box box{row.rules};
    expect_steps(box, row);
}

}  // namespace sluice::test
