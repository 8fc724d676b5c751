#include "lib/l7/stream/track/port_checksums.hpp"

#include <gtest/gtest.h>

namespace sluice::port_checksums_test {
namespace {

class Trust : public testing::Test {
protected:
    // True if the last of so many is dropped.
    bool judge(ChecksumFinding finding, unsigned times = 1) {
        PortChecksums::Judgement last;
        for (; times != 0; --times) {
            last = trust.judge(finding);
            changes += last.state_changed ? 1 : 0;
        }
        return last.is_wrong;
    }
    PortChecksums trust{};
    int changes = 0;
};
using State = PortChecksums::State;

TEST_F(Trust, VerifiesOnceEnoughFramesCameRight) {
    EXPECT_FALSE(judge(ChecksumFinding::Wrong, 1000));
    judge(ChecksumFinding::Right, 63);
    EXPECT_EQ(trust.state(), State::Learning);
    EXPECT_FALSE(judge(ChecksumFinding::Wrong));
    judge(ChecksumFinding::Right);
    EXPECT_EQ(trust.state(), State::Verifying);
    EXPECT_EQ(changes, 1);
    EXPECT_TRUE(judge(ChecksumFinding::Wrong));
    EXPECT_TRUE(judge(ChecksumFinding::Unfinished));
    EXPECT_FALSE(judge(ChecksumFinding::Unknown));
    EXPECT_FALSE(judge(ChecksumFinding::Right));
}

TEST_F(Trust, TrustsWhereSumsComeUnfinished) {
    EXPECT_FALSE(judge(ChecksumFinding::Unfinished, 64));
    EXPECT_EQ(trust.state(), State::Trusting);
    EXPECT_EQ(changes, 1);
    EXPECT_FALSE(judge(ChecksumFinding::Wrong));
}

// Frames with unfinished or wrong sums change nothing, however many somebody sends.
TEST_F(Trust, MadeUpFramesSwitchNothingOff) {
    judge(ChecksumFinding::Right, 64);
    EXPECT_TRUE(judge(ChecksumFinding::Unfinished, 100 * PortChecksums::kWindow));
    EXPECT_TRUE(judge(ChecksumFinding::Wrong, 100 * PortChecksums::kWindow));
    EXPECT_EQ(trust.state(), State::Verifying);
    EXPECT_EQ(changes, 1);
}

TEST_F(Trust, IsDecidedAgainOnceMostFramesComeRight) {
    judge(ChecksumFinding::Unfinished, 64);
    judge(ChecksumFinding::Right, 2 * PortChecksums::kWindow);
    EXPECT_EQ(trust.state(), State::Verifying);
    judge(ChecksumFinding::Unfinished, 2 * PortChecksums::kWindow);
    EXPECT_EQ(trust.state(), State::Verifying);
    EXPECT_EQ(changes, 2);
}

TEST_F(Trust, IsForGoodOnceAReceiverHasTakenAnUnfinishedFrame) {
    judge(ChecksumFinding::Right, 64);
    EXPECT_TRUE(trust.prove_unfinished());
    EXPECT_FALSE(trust.prove_unfinished());
    EXPECT_EQ(trust.state(), State::Trusting);
    EXPECT_FALSE(judge(ChecksumFinding::Right, 10 * PortChecksums::kWindow));
    EXPECT_FALSE(judge(ChecksumFinding::Wrong));
    EXPECT_EQ(trust.state(), State::Trusting);
}

// Nothing else is a proof where there can be one: neither few right frames beside many unfinished
// ones, nor many unfinished ones at the start.
TEST_F(Trust, ByProofUnfinishedFramesHaveNoSay) {
    trust = PortChecksums{ChecksumPolicy::Auto, UnfinishedSums::ByProof};
    EXPECT_FALSE(judge(ChecksumFinding::Unfinished, 5000));
    EXPECT_EQ(trust.state(), State::Learning);
    judge(ChecksumFinding::Right, 64);
    EXPECT_EQ(trust.state(), State::Verifying);
    EXPECT_TRUE(judge(ChecksumFinding::Unfinished));
    EXPECT_FALSE(trust.judge_harmless(ChecksumFinding::Unfinished).is_wrong);
    EXPECT_TRUE(trust.judge_harmless(ChecksumFinding::Wrong).is_wrong);
    EXPECT_TRUE(trust.prove_unfinished());
    EXPECT_FALSE(judge(ChecksumFinding::Unfinished));
}

TEST_F(Trust, IsProvenByAsManySourcesAsItTakes) {
    trust = PortChecksums{ChecksumPolicy::Auto, UnfinishedSums::ByProof};
    judge(ChecksumFinding::Right, 64);
    for (std::uint32_t source = 1; source < PortChecksums::kProvers; ++source) {
        EXPECT_FALSE(trust.has_taken_of(source));
        EXPECT_FALSE(trust.note_taken_of(source));
        EXPECT_FALSE(trust.note_taken_of(source)) << "the same again";
        EXPECT_TRUE(trust.has_taken_of(source));
    }
    EXPECT_EQ(trust.state(), State::Verifying);
    EXPECT_FALSE(trust.has_taken_of(0));
    PortChecksums other = trust;
    other.forget_takers();
    EXPECT_FALSE(other.has_taken_of(1));
    EXPECT_FALSE(other.note_taken_of(PortChecksums::kProvers)) << "of one source alone";
    EXPECT_EQ(other.state(), State::Verifying);
    EXPECT_TRUE(trust.note_taken_of(0));
    EXPECT_EQ(trust.state(), State::Trusting);
    EXPECT_FALSE(trust.note_taken_of(1000));
    trust = PortChecksums{ChecksumPolicy::Verify, UnfinishedSums::ByProof};
    for (std::uint32_t source = 0; source < 2 * PortChecksums::kProvers; ++source) {
        EXPECT_FALSE(trust.note_taken_of(source));
    }
}

TEST_F(Trust, IsWhatTheOperatorSays) {
    trust = PortChecksums{ChecksumPolicy::Verify};
    EXPECT_TRUE(trust.needs_finding());
    EXPECT_TRUE(judge(ChecksumFinding::Wrong));
    EXPECT_TRUE(judge(ChecksumFinding::Unfinished, 5000));
    EXPECT_TRUE(trust.judge_harmless(ChecksumFinding::Unfinished).is_wrong);
    EXPECT_FALSE(trust.prove_unfinished());
    EXPECT_EQ(trust.state(), State::Verifying);
    trust = PortChecksums{ChecksumPolicy::Trust};
    EXPECT_FALSE(trust.needs_finding());
    EXPECT_FALSE(judge(ChecksumFinding::Wrong, 5000));
    EXPECT_EQ(changes, 0);
}

}  // namespace
}  // namespace sluice::port_checksums_test
