#include "lib/respond/answer/tcp_answer.hpp"

#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

namespace sluice::tcp_answer_test {
namespace {

using test::Octets;

TEST(CutResponse, NoSegmentIsLargerThanTheClientTakes) {
    for (const bool stamps : {false, true}) {
        const std::size_t room = 536 - (stamps ? 12 : 0);
        for (std::size_t size = 1; size <= 3 * room; ++size) {
            const ResponseCut cut = cut_response(size, stamps);
            ASSERT_LE(cut.piece, room);
            ASSERT_GT(cut.count * cut.piece + 1, size);
            ASSERT_EQ(cut.count, size <= room ? 1U : size <= 2 * room ? 2U : 3U);
        }
        EXPECT_EQ(cut_response(3 * room + 1, stamps).count, 0U);
    }
    EXPECT_EQ(cut_response(kMostResponseBytes, true).count, 3U);
    EXPECT_EQ(cut_response(0, false).count, 0U);
}

const TcpFacts kRequest{.seq = 0xFFFF'FF00,
                        .ack = 5000,
                        .flags = kTcpAck | kTcpPsh,
                        .payload = 400,
                        .timestamps = TcpTimestamps{.value = 70, .echo = 30}};

TEST(ResponseSegment, TogetherTheyAreTheResponseBehindTheRequest) {
    const Octets response(1500, std::byte{7});
    const ResponsePlace place = response_to(kRequest);
    const ResponseCut cut = cut_response(response.size(), true);
    ASSERT_EQ(cut.count, 3U);
    std::uint32_t next = 5000;
    for (std::size_t i = 0; i < cut.count; ++i) {
        const MadeSegment segment = response_segment(place, response, cut, i);
        EXPECT_EQ(segment.seq, next);
        EXPECT_EQ(segment.payload.data(), response.data() + (next - 5000));
        EXPECT_EQ(segment.timestamps, (TcpTimestamps{.value = 30, .echo = 70}));
        next += static_cast<std::uint32_t>(segment.payload.size());
        const bool is_last = i == 2;
        EXPECT_EQ(segment.flags, is_last ? kTcpAck | kTcpPsh | kTcpFin : kTcpAck);
        EXPECT_EQ(segment.ack, is_last ? 0x90U : 0xFFFF'FF00U);
    }
    EXPECT_EQ(next, 5000U + 1500U);
    EXPECT_EQ(response_end(place, response.size()), 6501U);
}

TEST(ResponseSegment, AcknowledgesAFinThatCameWithTheRequest) {
    TcpFacts request = kRequest;
    request.flags |= kTcpFin;
    request.timestamps.reset();
    const Octets response(20);
    const MadeSegment only =
        response_segment(response_to(request), response, cut_response(20, false), 0);
    EXPECT_EQ(only.ack, 0x91U);
    EXPECT_FALSE(only.timestamps);
}

TEST(Reset, TowardTheSenderIsAtTheNumberItExpects) {
    const auto reset = reset_toward_sender(kRequest);
    ASSERT_TRUE(reset);
    EXPECT_EQ(reset->seq, 5000U);
    EXPECT_EQ(reset->ack, 0x90U);
    EXPECT_EQ(reset->flags, kTcpRst | kTcpAck);
    EXPECT_EQ(reset->timestamps, (TcpTimestamps{.value = 30, .echo = 70}));
    EXPECT_TRUE(reset->payload.empty());
}

// RFC 9293, 3.10.7.1 and 3.10.7.3: a SYN is refused at 0, with its own number acknowledged.
TEST(Reset, OfASyn) {
    const TcpFacts syn{.seq = 9, .ack = 123, .flags = kTcpSyn, .payload = 0};
    const auto reset = reset_toward_sender(syn);
    ASSERT_TRUE(reset);
    EXPECT_EQ(reset->seq, 0U);
    EXPECT_EQ(reset->ack, 10U);
    EXPECT_EQ(reset->flags, kTcpRst | kTcpAck);
    EXPECT_FALSE(reset_toward_receiver(syn, 9));
    const TcpFacts syn_ack{.seq = 9, .ack = 124, .flags = kTcpSyn | kTcpAck};
    EXPECT_EQ(reset_toward_sender(syn_ack)->seq, 124U);
    EXPECT_EQ(reset_toward_receiver(syn_ack, 9)->ack, 124U);
}

TEST(Reset, TowardTheReceiverIsAtTheFirstByteThatWasNotForwarded) {
    const auto reset = reset_toward_receiver(kRequest, kRequest.seq + 100);
    ASSERT_TRUE(reset);
    EXPECT_EQ(reset->seq, 0xFFFF'FF64U);
    EXPECT_EQ(reset->ack, 5000U);
    EXPECT_EQ(reset->flags, kTcpRst | kTcpAck);
    EXPECT_EQ(reset->timestamps, kRequest.timestamps);
}

TEST(Reset, NeverAnswersAReset) {
    const TcpFacts reset{.seq = 9, .ack = 1, .flags = kTcpRst | kTcpAck};
    EXPECT_FALSE(reset_toward_sender(reset));
    EXPECT_FALSE(reset_toward_receiver(reset, 9));
}

// RFC 5961, 3.2: the server that was not reset says which number would do it.
TEST(Reset, AnswersAChallengeAckAtItsAckNumber) {
    const TcpFacts challenge{.seq = 5000, .ack = 0xFFFF'FE00, .flags = kTcpAck};
    const auto reset = reset_toward_sender(challenge);
    ASSERT_TRUE(reset);
    EXPECT_EQ(reset->seq, 0xFFFF'FE00U);
    EXPECT_EQ(reset->ack, 5000U);
}

TEST(BareAck, HasNoData) {
    const MadeSegment ack = bare_ack(3, 4, TcpTimestamps{1, 2});
    EXPECT_EQ(ack.seq, 3U);
    EXPECT_EQ(ack.ack, 4U);
    EXPECT_EQ(ack.flags, kTcpAck);
    EXPECT_EQ(ack.timestamps, (TcpTimestamps{1, 2}));
    EXPECT_TRUE(ack.payload.empty());
}

}  // namespace
}  // namespace sluice::tcp_answer_test
