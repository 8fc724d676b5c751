#include "lib/l7/stream/track/connection_tracker.hpp"
#include "tests/fuzz/accepted.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/model/connection_model.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Memory in which a process left connections and streams, with some of its bytes changed, or all of
// them made up: the next process takes over something that it can go on with. The input: one byte
// how, so many changes of three bytes each (where, of its length, and the new byte) or the memory
// itself, then segments.
namespace {

using namespace sluice;
using test::FuzzInput;
using test::require;
using test::ToyReader;

constexpr TrackBudget kTracked{.connections = 6, .half_open = 2, .midstream = 2};
constexpr ConnectionBudget kStreams{.connections = 6,
                                    .half_heads = 2,
                                    .refusals = 2,
                                    .given_up = 2,
                                    .begun = 2,
                                    .half_head_lines = 12,
                                    .half_heads_per_source = 1,
                                    .head_bytes = 300};
constexpr HashSecret kSecret{1, 2};
constexpr std::uint64_t kEnds = 0x9E37'79B9'7F4A'7C15;
constexpr std::uint32_t kClient = 0xFFFF'FFF0;
constexpr std::uint32_t kServer = 0x7FFF'FFF0;

std::vector<std::byte>& memory() {
    static std::vector<std::byte> bytes(ConnectionTracker::kept_of(kTracked) +
                                        ConnectionTable::kept_of(kStreams) + kLineBytes);
    return bytes;
}
KeptMemory kept() {
    void* at = memory().data();
    std::size_t left = memory().size();
    require(std::align(kLineBytes, left - kLineBytes, at, left) != nullptr);
    return {at, left, 4096};
}

struct Process {
    explicit Process(Instant now) {
        tracker.take_over(now);
        table.take_over(
            now, [](const FramingState& state) noexcept { return state[0] != std::byte{0xFF}; });
    }
    KeptMemory region = kept();
    ConnectionTracker tracker{kTracked, KeyHasher{kSecret}, region};
    ConnectionTable table{kStreams, ReadingStance::Service, region};
};

TrackVerdict say(Process& process, std::uint64_t who, bool client, TrackedSegment segment) {
    segment.ends = kEnds * (who + 1);
    segment.from_low = client;
    segment.service = client ? std::uint16_t{0} : kNoService;
    segment.window = 1000;
    segment.ttl = 64;
    return process.tracker.track(segment, {}, Instant{std::chrono::seconds{1}});
}

void leave_something() {
    std::fill(memory().begin(), memory().end(), std::byte{});
    const Instant now{std::chrono::seconds{1}};
    Process process{now};
    for (std::uint64_t who = 0; who < 5; ++who) {
        say(process, who, true, {.seq = kClient, .flags = kTcpSyn});
        say(process, who, false, {.seq = kServer, .ack = kClient + 1, .flags = kTcpSyn | kTcpAck});
        if (who != 4) {
            say(process, who, true, {.seq = kClient + 1, .ack = kServer + 1, .flags = kTcpAck});
        }
        ToyReader reader{process.table, kEnds * (who + 1), kClient + 1};
        std::string unit{'H', static_cast<char>(200), static_cast<char>(50)};
        unit.append(who % 2 == 0 ? 247 : 150, 'x');
        (void)reader.add(0, unit, now, who / 2);
        process.table.conclude();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input{data, data + size};
    leave_something();
    const std::uint8_t how = input.byte();
    if (how == 0xFF) {
        const ByteView made_up = input.bytes(memory().size());
        std::copy(made_up.begin(), made_up.end(), memory().begin());
    }
    for (std::uint8_t change = 0; how != 0xFF && change < how % 16; ++change) {
        const std::size_t where = input.byte() << 8U | input.byte();
        memory()[where * memory().size() >> 16U] = static_cast<std::byte>(input.byte());
    }
    Instant now{std::chrono::seconds{2}};
    Process process{now};
    static test::AcceptedInputs accepted;
    accepted.add(process.tracker.size() != 0 && process.table.size() != 0);
    while (!input.empty()) {
        const std::uint8_t what = input.byte();
        const std::uint64_t who = what & 7U;
        now += std::chrono::seconds{(what & 0x80) != 0 ? input.byte() : 0};
        const bool client = (what & 8) != 0;
        const TrackVerdict verdict = say(
            process, who, client,
            {.seq = (client ? kClient : kServer) + input.byte(),
             .ack = (client ? kServer : kClient) + input.byte(),
             .flags = static_cast<std::uint16_t>((what & 0x30) != 0 ? 0x10 : input.byte() & 0x17),
             .payload = input.byte()});
        require(!verdict.readable || verdict.forwards() ||
                verdict.kind == TrackVerdict::Kind::Inspect);
        ToyReader reader{process.table, kEnds * (who + 1), kClient + 1};
        const ByteView text = input.bytes(input.byte());
        (void)reader.add(input.byte(),
                         std::string{reinterpret_cast<const char*>(text.data()), text.size()}, now,
                         who);
        process.table.conclude();
        require(process.table.size() <= kStreams.connections);
        (void)process.table.expire(now, 2);
        (void)process.tracker.expire(now, 2);
    }
    return 0;
}
