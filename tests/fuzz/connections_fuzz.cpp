#include "tests/fuzz/input.hpp"
#include "tests/model/connection_model.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

// Segments as the input says, through the table and through a model of single bytes: what both find
// is the same after each. Then once more through a table that is too small for them, where only its
// own invariants are asked.
namespace {

using namespace sluice;

using test::FuzzInput;
using test::require;

std::string text_of(ByteView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr std::uint32_t kIsn = 0xFFFF'FF00;

void beside_the_model(FuzzInput input) {
    ConnectionTable table{
        {.connections = 4, .half_heads = 2, .half_head_lines = 400, .head_bytes = 1000}};
    test::ToyReader reader{table, 1, kIsn};
    test::StreamModel model;
    const std::string begin = "H" + text_of(input.bytes(1));
    reader.add(0, begin, Instant{});
    model.add(0, begin);
    while (!input.empty()) {
        const std::uint64_t step = input.byte();
        const std::uint64_t next = model.next();
        const std::uint64_t at = (step & 0x80) != 0
                                     ? next - std::min<std::uint64_t>(next, step & 0x7F)
                                     : next + 2 * step;
        const std::string bytes = text_of(input.bytes(1 + input.byte() % 64));
        if (bytes.empty()) {
            return;
        }
        const StreamOffer& offer = reader.add(at, bytes, Instant{});
        if (offer.kind == Offered::Refused) {
            require(offer.why == RefusedWhy::TooManyPieces);
            continue;
        }
        model.add(at, bytes);
        require(reader.units() == model.units());
    }
}

// Everything a caller may answer, in a table with next to no room.
void within_budget(FuzzInput input) {
    const ConnectionBudget budget{
        .connections = 4,
        .half_heads = 2,
        .half_head_lines = 8,
        .half_heads_per_source = 1 + input.byte() % 2U,
        .head_bytes = 200,
        .when_full = (input.byte() & 1) != 0 ? FullHeads::Refuse : FullHeads::Evict};
    ConnectionTable table{budget};
    std::array<std::byte, 512> scratch{};
    StreamOffer offer;
    std::int64_t seconds = 0;
    while (!input.empty()) {
        const std::uint8_t flags = input.byte();
        seconds += flags >> 6;
        const Instant now{std::chrono::seconds{seconds}};
        const std::uint8_t who = input.byte();
        const std::uint32_t far = (who & 0x80) != 0 ? 1'000'000U : 0U;
        const std::uint32_t seq = kIsn + input.byte() * 2U + far;
        const std::string bytes = text_of(input.bytes(input.byte() % 100));
        const TcpSegment segment{.digest = (who & 7) * 0x10001ULL,
                                 .source = who & 3U,
                                 .seq = seq,
                                 .syn = (flags & 1) != 0,
                                 .begins = (flags & 9) == 9,
                                 .fin = (flags & 2) != 0,
                                 .rst = (flags & 4) != 0,
                                 .payload = bytes_of(bytes)};
        int turns = 0;
        for (table.take(segment, scratch, now, offer); offer.parses(); table.next(offer)) {
            require(++turns < 1000 && !offer.bytes.empty());
            const std::uint8_t answer = input.byte();
            const std::size_t head = 1 + input.byte() % offer.bytes.size();
            if (offer.kind == Offered::Framed) {
                table.framed(
                    offer, head,
                    {.kind = (answer & 1) != 0 ? UnitBody::Kind::Sized : UnitBody::Kind::Framed});
            } else if ((answer & 7) < 4) {
                UnitBody body{.kind = static_cast<UnitBody::Kind>(answer & 3)};
                body.bytes = (answer & 8) != 0 ? std::uint64_t{input.byte()} << (answer >> 3) : 0;
                table.finish(offer, head, StickyVerdict{input.byte()}, body);
            } else if ((answer & 7) < 6) {
                table.more(offer, {input.byte(), (answer & 8) != 0});
            } else {
                table.not_mine(offer);
            }
        }
        table.settle(segment.digest, seq, seq + input.byte(), StickyVerdict{input.byte()});
        table.expire(now, 2);
        if ((flags & 16) != 0) {
            table.note_unseen(now);
        }
        require(table.size() <= budget.connections && table.half_heads() <= budget.half_heads);
        require(table.counters().held_lines.read() <= budget.half_head_lines);
        require(table.half_heads() != 0 || table.counters().held_lines.read() == 0);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    beside_the_model({data, data + size});
    within_budget({data, data + size});
    return 0;
}
