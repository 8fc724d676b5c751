#include "dataplane/io/frame_note.hpp"
#include "tests/unit/dataplane/eal_once.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include <rte_mbuf.h>

namespace sluice::frame_note_test {
namespace {

class FrameNote : public testing::Test {
protected:
    FrameNote() {
        test::start_eal_once();
        register_frame_notes();
        register_frame_notes();
        pool = rte_pktmbuf_pool_create("frame_notes", 7, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
        frame = rte_pktmbuf_alloc(pool);
    }
    ~FrameNote() override {
        rte_pktmbuf_free(frame);
        rte_mempool_free(pool);
    }
    rte_mempool* pool = nullptr;
    rte_mbuf* frame = nullptr;
};

TEST_F(FrameNote, SaysWhatWasNoted) {
    ASSERT_NE(frame, nullptr);
    Normalization changes;
    changes.clears_urgent = true;
    changes.clears_options = true;
    changes.is_probe = true;
    changes.raises_to = 32;
    for (std::uint32_t i = 0; i < Normalization::kMostLines; ++i) {
        changes.void_line({i * 1000, i * 1000 + 65'000 - 3000});
    }
    note_changes(*frame, changes);
    const Normalization noted = noted_changes(*frame);
    EXPECT_TRUE(noted.clears_urgent);
    EXPECT_TRUE(noted.clears_options);
    EXPECT_TRUE(noted.is_probe);
    EXPECT_EQ(noted.raises_to, 32);
    ASSERT_EQ(noted.voided().size(), Normalization::kMostLines);
    for (std::size_t i = 0; i < Normalization::kMostLines; ++i) {
        EXPECT_EQ(noted.voided()[i].begin, changes.voided()[i].begin) << i;
        EXPECT_EQ(noted.voided()[i].end, changes.voided()[i].end) << i;
    }
}

// Whatever a driver has left in it.
TEST_F(FrameNote, OfAFrameThatIsNotChangedSaysNothing) {
    ASSERT_NE(frame, nullptr);
    Normalization changes;
    changes.raises_to = 32;
    note_changes(*frame, changes);
    note_changes(*frame, {});
    EXPECT_FALSE(noted_changes(*frame).any());
}

}  // namespace
}  // namespace sluice::frame_note_test
