#pragma once
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <ostream>
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

// One packet after the other.
inline void expect_steps(Box& box, const Case& row) {
    int number = 0;
    for (const Step& step : row.steps) {
        const Decision got = box.judge(step.in, kStart + step.at);
        EXPECT_EQ(name_of(got.verdict), step.verdict) << "step " << number;
        EXPECT_EQ(row_of(got.reason).name, step.reason) << "step " << number;
        EXPECT_EQ(box.rule_name(got), step.rule) << "step " << number;
        EXPECT_EQ(got.wait, step.wait) << "step " << number;
        ++number;
    }
}
inline void expect_case(const Case& row) {
    Box box{row.rules};
    expect_steps(box, row);
}

}  // namespace sluice::test
