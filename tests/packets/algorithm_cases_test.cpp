#include "tests/packets/verdict_case.hpp"

// Every algorithm of the language, through a rule file and packets: one row a packet.
namespace sluice::algorithm_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::tcp;
using test::udp;

#define RULE "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src]\n"
#define TWO_A_SECOND(algorithm) \
    RULE "    limits: [{algorithm: " algorithm ", count: 2, window: 1s}]\n"

const test::Frame kPacket = udp().src("10.0.0.1").size(114);  // 100 bytes of IP
const test::Frame kAf12 = udp().src("10.0.0.1").size(114).tos(12U << 2);
const test::Frame kAf13 = udp().src("10.0.0.1").size(114).tos(14U << 2);

// The box starts one hour after its clock's epoch, at the beginning of a UTC second.
const Case kCases[] = {
    {"leaky_bucket: a queue of two that drains at ten a second",
     RULE "    limits: [{algorithm: leaky_bucket, rate: 10/s, queue: 2}]\n",
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "drop", "over_limit", "r", 100ms},
      {100ms, kPacket, "pass", "within_limits"}}},

    {"fixed_window: begins with the second of the clock",
     TWO_A_SECOND("fixed_window"),
     {{900ms, kPacket, "pass", "within_limits"},
      {900ms, kPacket, "pass", "within_limits"},
      {900ms, kPacket, "drop", "over_limit", "r", 100ms},
      {1000ms, kPacket, "pass", "within_limits"}}},

    {"fixed_window: begins with the key's first packet",
     RULE "    limits: [{algorithm: fixed_window, count: 2, window: 1s, phase: first}]\n",
     {{900ms, kPacket, "pass", "within_limits"},
      {1000ms, kPacket, "pass", "within_limits"},
      {1000ms, kPacket, "drop", "over_limit", "r", 900ms},
      {1900ms, kPacket, "pass", "within_limits"}}},

    {"fixed_window: a day that begins three hours early",
     RULE "    limits: [{algorithm: fixed_window, count: 1, window: 1d, utc_offset: \"+03:00\"}]\n",
     {{0ms, kPacket, "pass", "within_limits"}, {0ms, kPacket, "drop", "over_limit", "r", 20h}}},

    {"fixed_window: a day of a zone, which was yesterday there",
     RULE "    limits: [{algorithm: fixed_window, count: 1, window: 1d, zone: America/New_York}]\n",
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "drop", "over_limit", "r", 4h},
      {4h - 1ms, kPacket, "drop", "over_limit", "r", 1ms},
      {4h, kPacket, "pass", "within_limits"}}},

    // New York's clocks went from 2:00 to 3:00 on 1970-04-26, and from 2:00 to 1:00 on 1970-10-25.
    {"fixed_window: days of 23 and of 25 hours",
     RULE "    limits: [{algorithm: fixed_window, count: 1, window: 1d, zone: America/New_York}]\n",
     {{24h * 115 + 4h, kPacket, "pass", "within_limits"},
      {24h * 115 + 4h, kPacket, "drop", "over_limit", "r", 23h},
      {24h * 116 + 3h, kPacket, "pass", "within_limits"},
      {24h * 297 + 3h, kPacket, "pass", "within_limits"},
      {24h * 297 + 3h, kPacket, "drop", "over_limit", "r", 25h},
      {24h * 298 + 3h, kPacket, "drop", "over_limit", "r", 1h},
      {24h * 298 + 4h, kPacket, "pass", "within_limits"}}},

    // 2*(1 s - 250 ms) of the window before leave room for one until 500 ms into the second.
    {"sliding_window: the window before counts by what is left of it",
     TWO_A_SECOND("sliding_window"),
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "pass", "within_limits"},
      {1250ms, kPacket, "drop", "over_limit", "r", 250ms},
      {1500ms, kPacket, "pass", "within_limits"}}},

    {"sliding_counters: strict counts a sub-window until it has left whole",
     RULE "    limits: [{algorithm: sliding_counters, count: 2, window: 1s, buckets: 10}]\n",
     {{50ms, kPacket, "pass", "within_limits"},
      {50ms, kPacket, "pass", "within_limits"},
      {1050ms, kPacket, "drop", "over_limit", "r", 50ms},
      {1100ms, kPacket, "pass", "within_limits"}}},

    {"sliding_counters: lenient forgets it a sub-window earlier",
     RULE "    limits: [{algorithm: sliding_counters, count: 2, window: 1s, buckets: 10, "
          "edge: lenient}]\n",
     {{50ms, kPacket, "pass", "within_limits"},
      {50ms, kPacket, "pass", "within_limits"},
      {999ms, kPacket, "drop", "over_limit", "r", 1ms},
      {1000ms, kPacket, "pass", "within_limits"}}},

    {"sliding_log: each packet counts for a second from when it came",
     TWO_A_SECOND("sliding_log"),
     {{0ms, kPacket, "pass", "within_limits"},
      {400ms, kPacket, "pass", "within_limits"},
      {999ms, kPacket, "drop", "over_limit", "r", 1ms},
      {1000ms, kPacket, "pass", "within_limits"},
      {1000ms, kPacket, "drop", "over_limit", "r", 400ms}}},

    {"srtcm: green, then yellow, then red, by default dropped",
     RULE "    limits: [{algorithm: srtcm, per: byte, cir: 100B/s, cbs: 100B, ebs: 200B}]\n",
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "drop", "over_limit", "r", 1s},
      {1s, kPacket, "pass", "within_limits"},
      {1s, kPacket, "drop", "over_limit", "r", 1s}}},

    {"trtcm: on_color gives each colour its action",
     RULE "    limits: [{algorithm: trtcm, variant: rfc2698, per: byte, cir: 100B/s, cbs: 100B, "
          "pir: 100B/s, pbs: 200B}]\n"
          "    on_color:\n      green: {action: tag, dscp: af11}\n"
          "      yellow: {action: tag, dscp: af12}\n      red: {action: pass}\n",
     {{0ms, kPacket, "tag", "within_limits", "r"},
      {0ms, kPacket, "tag", "within_limits", "r"},
      {0ms, kPacket, "pass", "over_limit", "r"},
      {1s, kPacket, "tag", "within_limits", "r"}}},

    // What yellow would have taken is still there for the green one.
    {"trtcm: what is dropped for its colour commits nothing",
     RULE "    limits: [{algorithm: trtcm, variant: rfc4115, per: byte, color: aware, cir: 100B/s, "
          "cbs: 100B, eir: 100B/s, ebs: 100B}]\n    on_color: {yellow: {action: drop}}\n",
     {{0ms, kAf12, "drop", "over_limit", "r"},
      {0ms, kAf12, "drop", "over_limit", "r"},
      {0ms, kAf13, "drop", "over_limit", "r", kNever},
      {0ms, kPacket, "pass", "within_limits"}}},

    {"cost: each packet takes five",
     RULE "    cost: 5\n    limits: [{algorithm: token_bucket, rate: 10/s, burst: 12}]\n",
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "drop", "over_limit", "r", 300ms},
      {300ms, kPacket, "pass", "within_limits"}}},

    {"cost: of bytes it is a factor",
     RULE "    per: byte\n    cost: 3\n"
          "    limits: [{algorithm: sliding_log, count: 2KB, window: 1s}]\n",
     {{0ms, udp().src("10.0.0.1").size(14 + 600), "pass", "within_limits"},
      {400ms, udp().src("10.0.0.1").size(14 + 66), "pass", "within_limits"},
      {400ms, udp().src("10.0.0.1").size(14 + 28), "drop", "over_limit", "r", 600ms},
      {400ms, udp().src("10.0.0.1").size(14 + 667), "drop", "over_limit", "r", kNever}}},

    {"cost: what counts nothing costs nothing",
     RULE "    per: connection\n    cost: 9\n"
          "    limits: [{algorithm: fixed_window, count: 17, window: 1s}]\n",
     {{0ms, kPacket, "pass", "unmatched"},
      {0ms, tcp().src("10.0.0.1").flags(2), "pass", "within_limits"},
      {0ms, tcp().src("10.0.0.1").flags(2), "drop", "over_limit", "r", 1s},
      {0ms, kPacket, "pass", "unmatched"}}},

    {"cost: the largest, over the largest limits there are",
     RULE "    per: byte\n    cost: 1000000000\n    limits:\n"
          "      - {algorithm: sliding_window, count: 200GB, window: 1s}\n",
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "drop", "over_limit", "r", 1500ms}}},

    {"cost: colour meters too",
     RULE "    cost: 2\n    limits: [{algorithm: srtcm, cir: 2/s, cbs: 2, ebs: 3}]\n"
          "    on_color: {yellow: {action: tag, dscp: af12}}\n",
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "tag", "within_limits", "r"},
      {0ms, kPacket, "drop", "over_limit", "r", 1s}}},

    {"cost: what is refused spends at most what there is",
     RULE "    rejected_spend: true\n    cost: 5\n"
          "    limits: [{algorithm: token_bucket, rate: 10/s, burst: 9}]\n",
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "drop", "over_limit", "r", 100ms},  // empties the four that were left
      {100ms, kPacket, "drop", "over_limit", "r", 400ms},
      {600ms, kPacket, "pass", "within_limits"}}},

    {"rejected_spend: a client that does not stop gets nothing",
     RULE "    rejected_spend: true\n"
          "    limits: [{algorithm: token_bucket, rate: 10/s, burst: 2}]\n",
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "pass", "within_limits"},
      {50ms, kPacket, "drop", "over_limit", "r", 50ms},  // empties what had come back
      {100ms, kPacket, "drop", "over_limit", "r", 50ms},
      {200ms, kPacket, "pass", "within_limits"}}},
};

class AlgorithmCase : public testing::TestWithParam<Case> {};

TEST_P(AlgorithmCase, Holds) {
    test::expect_case(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, AlgorithmCase, testing::ValuesIn(kCases));

}  // namespace
}  // namespace sluice::algorithm_cases_test

#undef RULE
#undef TWO_A_SECOND
