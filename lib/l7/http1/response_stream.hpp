#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/asked_requests.hpp"
#include "lib/l7/http1/chunk_scanner.hpp"
#include "lib/l7/http1/response_head.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice {

// Beginnings and ends of a server's answers on one connection (RFC 9112, 6.3), from its segments as
// they pass.
//
//   begin(S)   expect()      expect()
//      S |==== answer 1 ====|==== answer 2 ====|        Idle: none is awaited, all have ended
//             read in order ^ next      ^ sent: the highest number that has come
//
// Bytes are read in the order of their numbers. A gap is stepped over where it lies within one body
// or one chunk, whose bytes say nothing; else what lies behind it is not read until it comes again
// behind what was lacking. It need not come again to a client that has it: once that acknowledges
// it, the place is lost, and the answer lasts until the server closes. So does what cannot be
// framed, what nobody asked for, and all behind more requests than AskedRequests holds.
class ResponseStream {
public:
    enum class State : std::uint8_t {
        Unseen,    // begin() has not been called
        Idle,      // every answer has ended before next()
        UnderWay,  // an answer is awaited, or has not ended
        Tunnel,    // another protocol goes on behind a 101, or a 2xx to CONNECT
        Closed,    // the server has sent its FIN, which is before next()
    };
    [[nodiscard]] State state() const noexcept;
    // True if the answer's end cannot be told but by the server's FIN.
    [[nodiscard]] bool lasts_until_close() const noexcept { return phase_ == Phase::UntilClose; }

    // True behind an answer that agrees to another protocol.
    [[nodiscard]] bool is_tunnel() const noexcept { return phase_ == Phase::Tunnel; }
    // True behind an answer that agrees to CONNECT. Some servers go on with HTTP all the same.
    [[nodiscard]] bool is_connect() const noexcept {
        return phase_ == Phase::Tunnel && !awaited_.empty() &&
               awaited_.front().method == AskedMethod::Connect;
    }
    // True behind an answer that agrees to what its request asked for, if that is passed unread.
    [[nodiscard]] bool is_upgraded() const noexcept {
        return phase_ == Phase::Tunnel && !awaited_.empty() && awaited_.front().passes_upgrade;
    }

    // The server's first byte has this number.
    void begin(std::uint32_t seq) noexcept;
    // A request has been forwarded. It can be upgraded where no other awaits its answer, and where
    // none before it was HEAD.
    void expect(AskedRequest request) noexcept;
    // More requests than can be told have been forwarded.
    void lose() noexcept;
    // A segment of the server has been forwarded.
    void feed(std::uint32_t seq, ByteView bytes, bool has_fin) noexcept;
    // True if a segment that begins there would be read, or has been.
    [[nodiscard]] bool can_read(std::uint32_t seq) const noexcept;
    // A segment of the client acknowledges all before `ack`. What the server has not sent yet says
    // nothing.
    void acknowledge(std::uint32_t ack) noexcept;

    // Behind the last byte that has been read: where Idle, behind the latest answer.
    [[nodiscard]] std::uint32_t next() const noexcept { return next_; }
    // Behind the highest byte that the server has sent.
    [[nodiscard]] std::uint32_t sent() const noexcept { return sent_; }

private:
    enum class Phase : std::uint8_t { Unseen, Head, Length, Chunked, UntilClose, Tunnel, Closed };

    void read(ByteView bytes) noexcept;
    [[nodiscard]] std::size_t step(ByteView bytes) noexcept;
    [[nodiscard]] std::size_t read_head(ByteView bytes) noexcept;
    void begin_body() noexcept;
    void end_answer() noexcept;
    [[nodiscard]] bool skip(std::uint32_t bytes) noexcept;

    ResponseHead head_;  // of the latest answer, and what its Length has left
    ChunkScanner chunks_{ChunkScanner::Of::Answers};
    std::uint32_t next_ = 0;
    std::uint32_t sent_ = 0;
    AskedRequests awaited_;
    Phase phase_ = Phase::Unseen;
};
static_assert(sizeof(ResponseStream) == 48 && std::is_trivially_copyable_v<ResponseStream>,
              "kept for each connection");

}  // namespace sluice
