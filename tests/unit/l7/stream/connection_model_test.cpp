#include "tests/model/connection_model.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sluice::connection_model_test {
namespace {

using test::StreamModel;
using test::ToyReader;
using Random = std::mt19937_64;

std::uint64_t below(Random& random, std::uint64_t end) {
    return random() % end;
}

std::string stream_of(Random& random, int units) {
    std::string stream;
    for (int i = 0; i < units; ++i) {
        const std::size_t head = test::kToyHead + below(random, below(random, 4) == 0 ? 250 : 20);
        const std::size_t body = below(random, 3) == 0 ? below(random, 256) : 0;
        std::string unit{'H', static_cast<char>(head), static_cast<char>(body)};
        while (unit.size() < head + body) {
            unit += static_cast<char>('a' + below(random, 26));
        }
        stream += unit;
    }
    return stream;
}

// Segments near where the stream has come to: behind, in order, ahead, overlapping, some with other
// bytes; until all of it has come.
class Sender {
public:
    Sender(Random& random, const std::string& stream, bool lies)
        : random_{random}, stream_{stream}, lies_{lies} {}

    struct Segment {
        std::uint64_t at;
        std::string bytes;
    };
    [[nodiscard]] Segment draw(std::uint64_t next) {
        const std::uint64_t rss_mapping = below(random_, 3) == 0 ? 0 : below(random_, 400);
        const bool back = below(random_, 3) == 0;
        std::uint64_t at = back ? next - std::min(next, rss_mapping) : next + rss_mapping;
        at = std::min<std::uint64_t>(at, stream_.size() - 1);
        Segment segment{at, stream_.substr(at, 1 + below(random_, below(random_, 2) ? 8 : 300))};
        if (lies_ && below(random_, 4) == 0) {
            segment.bytes[below(random_, segment.bytes.size())] ^= 1;
        }
        return segment;
    }

private:
    Random& random_;
    const std::string& stream_;
    bool lies_;
};

void run(std::uint64_t seed, bool lies) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{seed};
    const std::string stream = stream_of(random, 40);
    ConnectionTable table{
        {.connections = 16, .half_heads = 8, .half_head_lines = 4096, .head_bytes = 2000}};
    // Numbers wrap within the stream in half of the rounds.
    const auto isn = static_cast<std::uint32_t>(
        below(random, 2) == 0 ? random() : -below(random, stream.size()) - 1);
    ToyReader reader{table, random(), isn};
    StreamModel model;
    Sender sender{random, stream, lies};
    const std::string begin = stream.substr(0, 2);
    reader.add(0, begin, Instant{});
    model.add(0, begin);
    // Lies may name sizes with which the stream ends in the middle of a unit.
    for (int step = 0; step < 6000 && model.next() < stream.size(); ++step) {
        const auto [at, bytes] = sender.draw(model.next());
        const bool differs = model.differs(at, bytes);
        const bool judged = at + bytes.size() <= model.next();
        const StreamOffer& offer = reader.add(at, bytes, Instant{Nanoseconds{step}});
        if (offer.kind == Offered::Refused) {
            ASSERT_EQ(offer.why, RefusedWhy::TooManyPieces);
            continue;
        }
        ASSERT_EQ(offer.kind == Offered::Judged, judged) << at << " +" << bytes.size();
        if (!judged) {
            EXPECT_EQ(offer.differs, differs) << at << " +" << bytes.size();
        }
        model.add(at, bytes);
        ASSERT_EQ(reader.units(), model.units());
    }
    EXPECT_TRUE(lies || model.units().size() == 40U);
    EXPECT_GT(table.counters().of(ConnectionEvent::OutOfOrder), 0U);
}

// The same units as the model finds, each once, after every segment.
TEST(ConnectionModel, EveryUnitIsJudgedOnceWithTheBytesThatCameFirst) {
    for (int seed = 1; seed <= test::rounds(1200) && !testing::Test::HasFailure(); ++seed) {
        run(static_cast<std::uint64_t>(seed), seed % 3 == 0);
    }
}

}  // namespace
}  // namespace sluice::connection_model_test
