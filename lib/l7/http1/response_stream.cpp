#include "lib/l7/http1/response_stream.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::uint16_t kContinue = 100;
constexpr std::uint16_t kSwitchingProtocols = 101;
constexpr std::uint16_t kFirstSuccess = 200;
constexpr std::uint16_t kNoContent = 204;
constexpr std::uint16_t kFirstRedirection = 300;
constexpr std::uint16_t kNotModified = 304;

std::int32_t ahead(std::uint32_t from, std::uint32_t at) noexcept {
    return static_cast<std::int32_t>(at - from);
}

}  // namespace

ResponseStream::State ResponseStream::state() const noexcept {
    switch (phase_) {
        case Phase::Unseen:
            return State::Unseen;
        case Phase::Tunnel:
            return State::Tunnel;
        case Phase::Closed:
            return State::Closed;
        case Phase::Head:
            return awaited_.empty() ? State::Idle : State::UnderWay;
        default:
            return State::UnderWay;
    }
}

void ResponseStream::begin(std::uint32_t seq) noexcept {
    *this = {};
    phase_ = Phase::Head;
    next_ = seq;
    sent_ = seq;
}

// Some programs give the answer to HEAD a body all the same: what its client has chosen would be
// taken for the next answer, and agree to what that one's request asks for.
void ResponseStream::expect(AskedRequest request) noexcept {
    request.passes_upgrade =
        request.passes_upgrade && awaited_.empty() && !awaited_.has_asked_head();
    if (!awaited_.push(request)) {
        lose();
    }
}

void ResponseStream::feed(std::uint32_t seq, ByteView bytes, bool has_fin) noexcept {
    if (phase_ == Phase::Unseen || phase_ == Phase::Closed) {
        return;
    }
    const std::uint32_t end = seq + static_cast<std::uint32_t>(bytes.size());
    const std::uint32_t last = end + (has_fin ? 1 : 0);
    sent_ = ahead(sent_, last) > 0 ? last : sent_;
    const std::int32_t gap = ahead(next_, seq);
    if (ahead(next_, end) < 0 || (gap > 0 && !skip(static_cast<std::uint32_t>(gap)))) {
        return;
    }
    read(gap < 0 ? bytes.subspan(static_cast<std::size_t>(-gap)) : bytes);
    if (has_fin) {
        phase_ = Phase::Closed;
        next_ = last;
    }
}

bool ResponseStream::can_read(std::uint32_t seq) const noexcept {
    const std::int32_t gap = ahead(next_, seq);
    ResponseStream behind = *this;
    return gap <= 0 || behind.skip(static_cast<std::uint32_t>(gap));
}

void ResponseStream::acknowledge(std::uint32_t ack) noexcept {
    const std::int32_t gap = ahead(next_, ack);
    if (phase_ == Phase::Unseen || gap <= 0 || ahead(sent_, ack) > 0) {
        return;
    }
    if (!skip(static_cast<std::uint32_t>(gap))) {
        lose();
        next_ = ack;
    }
}

// All of them, to where `next_` is behind them.
void ResponseStream::read(ByteView bytes) noexcept {
    while (!bytes.empty()) {
        const std::size_t taken = step(bytes);
        next_ += static_cast<std::uint32_t>(taken);
        bytes = bytes.subspan(taken);
    }
}

std::size_t ResponseStream::step(ByteView bytes) noexcept {
    switch (phase_) {
        case Phase::Head:
            return read_head(bytes);
        case Phase::Length: {
            const auto taken = std::min<std::uint64_t>(head_.length(), bytes.size());
            head_.take_off(taken);
            if (head_.length() == 0) {
                end_answer();
            }
            return taken;
        }
        case Phase::Chunked: {
            HeadShapes shapes;
            const std::size_t taken = chunks_.feed(bytes, shapes);
            // Another reading of it may end elsewhere.
            if (!shapes.empty()) {
                lose();
            } else if (chunks_.is_done()) {
                end_answer();
            }
            return taken;
        }
        default:
            return bytes.size();
    }
}

std::size_t ResponseStream::read_head(ByteView bytes) noexcept {
    if (awaited_.empty()) {
        lose();
        return bytes.size();
    }
    const std::size_t taken = head_.feed(bytes);
    if (head_.is_broken()) {
        lose();
    } else if (head_.is_done()) {
        begin_body();
    }
    return taken;
}

// RFC 9112, 6.3; RFC 9110, 15.2: what comes before the answer proper has no body.
void ResponseStream::begin_body() noexcept {
    const std::uint16_t status = head_.status();
    const AskedMethod asked = awaited_.front().method;
    const bool is_success = status >= kFirstSuccess && status < kFirstRedirection;
    if (status == kSwitchingProtocols || (asked == AskedMethod::Connect && is_success)) {
        phase_ = Phase::Tunnel;
    } else if (status >= kContinue && status < kFirstSuccess) {
        head_ = {};
    } else if (asked == AskedMethod::Head || status == kNoContent || status == kNotModified) {
        end_answer();
    } else if (head_.body() == ResponseHead::Body::Chunked) {
        chunks_ = ChunkScanner{ChunkScanner::Of::Answers};
        phase_ = Phase::Chunked;
    } else if (head_.body() == ResponseHead::Body::UntilClose) {
        lose();
    } else if (head_.length() == 0) {
        end_answer();
    } else {
        phase_ = Phase::Length;
    }
}

void ResponseStream::end_answer() noexcept {
    head_ = {};
    awaited_.pop();
    phase_ = Phase::Head;
}

// Bytes that have not been seen, which say nothing where they are. False: they may say something.
bool ResponseStream::skip(std::uint32_t bytes) noexcept {
    if (phase_ == Phase::Head || (phase_ == Phase::Length && bytes > head_.length())) {
        return false;
    }
    if (phase_ == Phase::Length) {
        head_.take_off(bytes);
        if (head_.length() == 0) {
            end_answer();
        }
    } else if (phase_ == Phase::Chunked) {
        ChunkScanner behind = chunks_;
        if (!behind.skip(bytes)) {
            return false;
        }
        chunks_ = behind;
    }
    next_ += bytes;
    return true;
}

void ResponseStream::lose() noexcept {
    if (phase_ != Phase::Unseen && phase_ != Phase::Tunnel && phase_ != Phase::Closed) {
        phase_ = Phase::UntilClose;
    }
}

}  // namespace sluice
