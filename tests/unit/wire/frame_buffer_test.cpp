#include "lib/wire/frame_buffer.hpp"

#include "random_message.hpp"

#include <gtest/gtest.h>

namespace sluice::frame_buffer_test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes framed(const Bytes& payload) {
    Bytes out(sizeof(std::uint32_t) + payload.size());
    const auto size = static_cast<std::uint32_t>(payload.size());
    std::memcpy(out.data(), &size, sizeof(size));
    std::copy(payload.begin(), payload.end(), out.begin() + sizeof(size));
    return out;
}

struct Stream {
    std::vector<Bytes> payloads;
    Bytes bytes;
};
Stream some_messages() {
    Stream stream;
    RandomMessage random{3};
    for (const Reply& reply : random.replies()) {
        stream.payloads.push_back(encode(reply));
    }
    stream.payloads.emplace_back();  // an empty message is a message
    for (const Bytes& payload : stream.payloads) {
        const Bytes frame = framed(payload);
        stream.bytes.insert(stream.bytes.end(), frame.begin(), frame.end());
    }
    return stream;
}

TEST(FrameBuffer, GivesTheMessagesHoweverTheBytesCome) {
    const Stream stream = some_messages();
    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{3}, std::size_t{7}, std::size_t{64}, stream.bytes.size()}) {
        FrameBuffer buffer;
        std::vector<Bytes> got;
        for (std::size_t at = 0; at < stream.bytes.size(); at += piece) {
            const std::size_t size = std::min(piece, stream.bytes.size() - at);
            buffer.feed(ByteView{stream.bytes}.subspan(at, size));
            while (auto payload = buffer.next()) {
                got.push_back(*std::move(payload));
            }
        }
        EXPECT_EQ(got, stream.payloads) << "in pieces of " << piece;
        EXPECT_FALSE(buffer.waiting());
        EXPECT_FALSE(buffer.broken());
    }
}

TEST(FrameBuffer, WaitsInsideAMessage) {
    FrameBuffer buffer;
    EXPECT_FALSE(buffer.waiting());
    const Bytes frame = framed(Bytes(10));
    buffer.feed(ByteView{frame}.first(2));
    EXPECT_TRUE(buffer.waiting());
    EXPECT_FALSE(buffer.next());
    buffer.feed(ByteView{frame}.subspan(2));
    EXPECT_TRUE(buffer.next());
    EXPECT_FALSE(buffer.waiting());
    EXPECT_FALSE(buffer.next());
}

TEST(FrameBuffer, LetsGoOfAMessageAsItComes) {
    const Bytes kept(5, std::byte{7});
    const Bytes frame = framed(Bytes(1000));
    const Bytes after = framed(kept);
    for (const std::size_t begun : {4U, 5U, 1003U}) {
        FrameBuffer buffer;
        buffer.feed(ByteView{frame}.first(begun));
        EXPECT_EQ(buffer.incoming(), 1000U);
        buffer.skip();
        EXPECT_TRUE(buffer.is_skipping());
        EXPECT_TRUE(buffer.waiting());
        EXPECT_EQ(buffer.left(), 0U);
        EXPECT_EQ(buffer.incoming(), 0U);
        Bytes rest(frame.begin() + static_cast<std::ptrdiff_t>(begun), frame.end());
        rest.insert(rest.end(), after.begin(), after.end());
        buffer.feed(ByteView{rest}.first(rest.size() - 2));
        EXPECT_FALSE(buffer.is_skipping());
        EXPECT_FALSE(buffer.next());
        buffer.feed(ByteView{rest}.last(2));
        EXPECT_EQ(buffer.next(), kept);
        buffer.skip();  // there is none
        EXPECT_FALSE(buffer.waiting());
    }
}

TEST(FrameBuffer, RefusesWhatIsAnnouncedTooLarge) {
    for (const auto& [announced, broken] :
         {std::pair{kMaxMessageSize, false}, {kMaxMessageSize + 1, true}, {UINT32_MAX, true}}) {
        FrameBuffer buffer;
        Bytes head(sizeof(announced));
        std::memcpy(head.data(), &announced, head.size());
        buffer.feed(head);
        EXPECT_EQ(buffer.broken(), broken) << announced;
        EXPECT_FALSE(buffer.next());
    }
}

TEST(FrameBuffer, BreaksBehindAGoodMessageToo) {
    FrameBuffer buffer;
    Bytes bytes = framed(Bytes(3));
    bytes.insert(bytes.end(), 4, std::byte{0xFF});
    buffer.feed(bytes);
    EXPECT_EQ(buffer.next()->size(), 3U);
    EXPECT_TRUE(buffer.broken());
    EXPECT_FALSE(buffer.next());
}

}  // namespace
}  // namespace sluice::frame_buffer_test
