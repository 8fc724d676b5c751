#pragma once
#include "lib/base/units.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

// Bounds of answers: how many there are, for how long a connection that was answered is known, and
// which segments are taken for its own.
namespace sluice {

// Responses that one worker sends to a source in a second. A source that is not what it says it is
// brings no more than that upon whom it names: 15 MB/s at the largest response. No client that
// waits for its answers comes near it; beyond, it is reset, which is no larger than what came.
inline constexpr std::uint32_t kMostAnswersPerSecond = 10'000;
// Places in which sources are counted. Sources that share one share its answers.
inline constexpr std::size_t kAnswerPaces = 4096;

// An answer is sent again so often at most. Timers of TCP double: the eighth repetition of a
// request comes about a minute after the first (RFC 6298, 5.5), when few clients still wait.
inline constexpr std::uint8_t kMostRepeats = 8;

// Numbers of a client that goes on with the connection: as far behind the request as segments of
// its own may still be on their way (a window without scaling), and as far ahead as it sends before
// anything is acknowledged (the windows that servers begin with).
inline constexpr std::int32_t kReachBehind = 1 << 16;
inline constexpr std::int32_t kReachAhead = 1 << 18;
// A server's ACK that lies this far before the first byte that it did not get, or less, is of the
// connection that was answered; any other is of a later one, or of somebody who guesses numbers.
inline constexpr std::uint32_t kServerReach = 1U << 16;

// Bytes on their way between a server and its client, either way, at most: a window of 16 MiB. What
// lies further off is of somebody who guesses numbers.
inline constexpr std::int32_t kServerInFlight = 1 << 24;
inline constexpr std::int32_t kClientInFlight = 1 << 24;
// Connections of a worker whose servers' answers are followed (4 MiB).
inline constexpr std::size_t kServedConnections = 65'536;
// Numbers that servers have sent lately, of all workers (2 MiB), and of SYN-ACKs that came to one
// (128 KiB). Longer than servers keep idle connections.
inline constexpr std::size_t kSentNumbers = 262'144;
inline constexpr std::size_t kHandshakesHere = 16'384;
inline constexpr std::uint32_t kSentSeconds = 180;

// A refusal that waits for an answer to end gives up, and the connection is reset, once its client
// has acknowledged nothing for so long, as servers do (proxy_read_timeout of nginx); and after so
// long in any case, before a client gives up what is not acknowledged (RFC 9293, 3.8.3).
inline constexpr Nanoseconds kAnswerStall = std::chrono::seconds{60};
inline constexpr Nanoseconds kLongestAnswerWait = std::chrono::minutes{10};

// Silent for so long, a connection is forgotten: longer than the pauses between a client's
// repetitions. Behind its client's FIN, an ACK that is lost is asked for again within seconds.
inline constexpr Nanoseconds kAnsweredSilence = std::chrono::seconds{60};
inline constexpr Nanoseconds kAnsweredAfterFin = std::chrono::seconds{2};

// Connections of a worker that were answered a short time ago (4 MiB), and of all workers (2 MiB).
inline constexpr std::size_t kAnsweredConnections = 65'536;
inline constexpr std::size_t kAnsweredServers = 262'144;

// Connections of QUIC that a worker has closed (640 KiB), each for as long as clients repeat their
// Initial: timers double from a second on at most (RFC 9002, 6.2.4), and handshakes end within ten.
inline constexpr std::size_t kClosedQuic = 16'384;
inline constexpr std::uint32_t kClosedQuicSeconds = 10;

// Responses that a worker keeps as they were written. Under a flood they differ in what they tell
// clients to wait for, by a second or two, and in the rule: a few dozen kilobytes stay in its
// cache.
inline constexpr std::size_t kKeptResponses = 16;

}  // namespace sluice
