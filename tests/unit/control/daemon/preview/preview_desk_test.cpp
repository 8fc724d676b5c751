#include "control/daemon/preview/preview_desk.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace sluice {
namespace {

using State = PreviewRun::State;
constexpr std::chrono::seconds kAtOnce{0};

TEST(PreviewDesk, EachPreviewWhosePlaceWasTakenIsKnownByName) {
    DataplaneLink nobody{"/nonexistent/dataplane.sock"};
    PreviewDesk desk{nobody};
    for (const std::string name : {"7-1", "7-2", "7-3"}) {
        desk.begin(name, {});
    }
    const auto first = desk.read("7-1", kAtOnce);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->state, State::Ended);
    EXPECT_EQ(first->why, "a newer preview has taken its place");
    EXPECT_EQ(desk.end("7-1")->state, State::Ended);
    EXPECT_TRUE(desk.read("7-3", kAtOnce));
    EXPECT_FALSE(desk.read("7-4", kAtOnce)) << "of that name there was none";
}

TEST(PreviewDesk, NamesOfThePastAreBounded) {
    DataplaneLink nobody{"/nonexistent/dataplane.sock"};
    PreviewDesk desk{nobody};
    constexpr int kMany = 70;
    for (int i = 0; i < kMany; ++i) {
        desk.begin(std::to_string(i), {});
    }
    EXPECT_FALSE(desk.read("0", kAtOnce));
    EXPECT_TRUE(desk.read("60", kAtOnce));
}

}  // namespace
}  // namespace sluice
