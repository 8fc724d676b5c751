#include "lib/packet/parse.hpp"
#include "lib/respond/act/act_burst.hpp"
#include "lib/respond/answer/answer_plan.hpp"
#include "lib/respond/answer/made_datagram.hpp"
#include "tests/fuzz/input.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

// Frames of any shape, judged as the input says, through one worker's answerer. Whatever is made
// parses, is no larger than its kind may be, and goes between the two ends of what it is made for.
namespace {

using namespace sluice;
using test::FuzzInput;
using test::require;

const std::array<Action, 5> kActions{
    kPass,
    kDrop,
    {.verdict = Verdict::Reset},
    {.verdict = Verdict::Reply, .answer = {.response = 1, .slip = 1, .tls_alert = true}},
    {.verdict = Verdict::Reply, .answer = {.slip = 1, .then = 2}},
};

// The plan of one rule with one response and no limits.
const AnswerPlan& plan() {
    static const AnswerPlan made = *AnswerPlan::make({ResponseSpec{.policy = "p"}}, {});
    return made;
}

void check(const PacketHeaders& came, const MadeFrame& frame, const FrameRoute& route) {
    const std::size_t size = frame.is_datagram ? datagram_frame_size(route, frame.payload)
                                               : segment_frame_size(route, frame.segment);
    require(size <= 64 + 40 + 60 + kResponseMss || frame.is_datagram);
    std::vector<std::byte> bytes(size);
    frame.is_datagram ? write_datagram(route, frame.payload, bytes)
                      : write_segment(route, frame.segment, bytes);
    PacketHeaders made;
    parse_frame({bytes, static_cast<std::uint32_t>(size)}, {}, made);
    require(made.parsed == Parsed::Ok);
    const bool back = frame.side == Toward::Source;
    require(made.src == (back ? came.dst : came.src) && made.dst == (back ? came.src : came.dst));
    require(made.sport == (back ? came.dport : came.sport));
    require(made.dport == (back ? came.sport : came.dport));
    if (frame.is_datagram) {
        // Amplification is 1 at most.
        require(made.payload_len <= came.payload_len);
    }
}

AskedRequests requests_of(std::uint8_t more) {
    AskedRequests requests;
    for (unsigned i = 0; i < (more >> 5U); ++i) {
        require(requests.push({.method = AskedMethod{static_cast<std::uint8_t>(i % 3)},
                               .passes_upgrade = i % 4 == 3}));
    }
    return requests;
}

void take(Answerer& answerer, const KeyHasher& hash, FuzzInput& input, Instant& now) {
    const std::uint8_t how = input.byte();
    const std::uint8_t more = input.byte();
    constexpr std::array<int, 4> kSeconds{0, 1, 30, 61};
    now += std::chrono::seconds{kSeconds[how >> 6]};
    const ByteView bytes = input.bytes(2U * input.byte());
    const FrameView frame{bytes, static_cast<std::uint32_t>(bytes.size())};
    PacketHeaders headers;
    parse_frame(frame, {}, headers);
    if (is_malformed(headers.parsed)) {
        return;
    }
    headers.dir = (how & 0x08) != 0 ? Direction::Out : Direction::In;
    const AnsweredPacket packet{.headers = headers,
                                .frame = frame,
                                .unit = AnsweredUnit{static_cast<std::uint8_t>(how >> 4 & 3)},
                                .may_wait = (more & 0x10) != 0,
                                .handshake = Handshake{static_cast<std::uint8_t>(more & 3)},
                                .requests = requests_of(more)};
    const AnswerContext context{
        .actions = kActions, .plan = plan(), .load = 1, .now = now, .hash = hash, .follows = true};
    const auto action = static_cast<ActionIndex>((how & 7) % kActions.size());
    Decision decision{.verdict = kActions[action].verdict, .action = action, .rule = 0};
    if (!answerer.follow(packet, context, decision) && answers(decision.verdict)) {
        answerer.answer(packet, context, decision);
    }
    if (forwards(decision.verdict)) {
        answerer.note_forwarded(packet, context);
    }
    const MadeFrames& made = answerer.made();
    require(made.count <= kMostMadeFrames);
    require(made.count == 0 || answers(decision.verdict) || decision.reason == Reason::Answered);
    for (std::size_t i = 0; i < made.count; ++i) {
        check(headers, made.frames[i], made.route(made.frames[i]));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static AnswerBoards boards{64, 64};
    static const KeyHasher hash{HashSecret{1, 2}};
    static Instant now{std::chrono::hours{1}};
    static Answerer answerer{64, boards};
    FuzzInput input{data, data + std::min<std::size_t>(size, 8192)};
    // What was answered in an earlier input is forgotten by then.
    now += 2 * kLongestAnswerWait;
    while (!input.empty()) {
        take(answerer, hash, input, now);
    }
    return 0;
}
