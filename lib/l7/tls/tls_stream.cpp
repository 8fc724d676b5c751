#include "lib/l7/tls/tls_stream.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

constexpr std::byte kHandshakeRecord{22};
constexpr std::byte kMajorVersion{3};

// How the header of a record looks as far as it is there.
enum class RecordHead : std::uint8_t { Good, Short, Bad };

RecordHead look_at_record(ByteView record) noexcept {
    if ((!record.empty() && record[0] != kHandshakeRecord) ||
        (record.size() > 1 && record[1] != kMajorVersion)) {
        return RecordHead::Bad;
    }
    if (record.size() < kRecordHeader) {
        return RecordHead::Short;
    }
    return load_be16(record, 3) > kMaxRecord ? RecordHead::Bad : RecordHead::Good;
}

// Bytes that tell a hello in the framing of SSL 2.0: a length of two bytes whose highest bit is
// set, the type, and the version.
constexpr std::size_t kSslv2Beginning = 5;

// A hello of that framing begins so, as far as the bytes are there; there is one.
bool may_be_sslv2(ByteView stream) noexcept {
    const std::size_t size = stream.size();
    const auto byte = [&](std::size_t at) { return load_u8(stream, at); };
    return byte(0) >= 0x80 && (size < 3 || byte(2) == kClientHelloType) &&
           (size < 4 || byte(3) == 3 || byte(3) == 0) && (size < 5 || byte(3) == 3 || byte(4) == 2);
}

// The walk over the records of one stream, and what is known of the handshake message in them.
class RecordWalk {
public:
    explicit RecordWalk(ByteView stream) noexcept : stream_{stream} {}

    // Whole: the message ends at `at` of the stream.
    [[nodiscard]] HelloRead run() noexcept {
        for (; records_ < kMaxHelloRecords; ++records_) {
            const ByteView record = stream_.subspan(at_);
            const RecordHead head = look_at_record(record);
            if (head != RecordHead::Good) {
                return no_record(head);
            }
            const std::size_t size = load_be16(record, 3);
            if (step(record.subspan(kRecordHeader), size)) {
                return read_;
            }
            at_ += kRecordHeader + size;
            have_ += size;
        }
        return malformed(HelloFault::TooManyRecords);
    }
    [[nodiscard]] std::size_t message_size() const noexcept { return message_; }
    [[nodiscard]] bool in_one_record() const noexcept { return records_ == 0; }

private:
    // One record's content, of which some may be to come. True: read_ is the outcome.
    bool step(ByteView content, std::size_t size) noexcept {
        const std::size_t here = std::min(content.size(), size);
        if (have_ < kHandshakeHeader) {
            const std::size_t part = std::min(here, kHandshakeHeader - have_);
            std::copy_n(content.begin(), part, head_.begin() + static_cast<std::ptrdiff_t>(have_));
            read_ = read_handshake_header(ByteView{head_}.first(have_ + part));
            message_ = read_.at;
            if (read_.outcome != HelloOutcome::Whole && read_.outcome != HelloOutcome::NeedMore) {
                return true;
            }
        }
        const bool known = read_.outcome == HelloOutcome::Whole;
        const std::size_t wanted = std::min(message_ - have_, size);
        read_.at = static_cast<std::uint32_t>(at_ + kRecordHeader + wanted);
        if (here < wanted) {
            read_.outcome = HelloOutcome::NeedMore;
            return true;
        }
        return known && have_ + wanted == message_;
    }
    HelloRead no_record(RecordHead head) noexcept {
        if (head == RecordHead::Short) {
            return {.outcome = HelloOutcome::NeedMore,
                    .handshake_type = read_.handshake_type,
                    .at = static_cast<std::uint32_t>(at_ + kRecordHeader)};
        }
        return records_ == 0 ? no_tls() : malformed(HelloFault::BadRecord);
    }
    [[nodiscard]] HelloRead no_tls() const noexcept {
        if (!may_be_sslv2(stream_)) {
            return {};
        }
        return stream_.size() < kSslv2Beginning
                   ? HelloRead{.outcome = HelloOutcome::NeedMore, .at = kSslv2Beginning}
                   : malformed(HelloFault::Sslv2Framing);
    }
    [[nodiscard]] HelloRead malformed(HelloFault fault) const noexcept {
        return {.outcome = HelloOutcome::Malformed,
                .fault = fault,
                .handshake_type = read_.handshake_type};
    }

    ByteView stream_;
    std::size_t at_ = 0;       // where the record at hand begins
    std::size_t have_ = 0;     // bytes of the message before it
    std::size_t message_ = 0;  // of how many it is; until that is known, of its header
    std::size_t records_ = 0;
    HelloRead read_{};
    std::array<std::byte, kHandshakeHeader> head_{};
};

// The contents of the records, all of which are there, one behind the other.
ByteView join_records(ByteView stream, std::size_t size, MutableBytes room) noexcept {
    std::size_t joined = 0;
    for (std::size_t at = 0; joined < size;) {
        const std::size_t record = load_be16(stream, at + 3);
        const std::size_t part = std::min(record, size - joined);
        std::memcpy(room.data() + joined, stream.data() + at + kRecordHeader, part);
        joined += part;
        at += kRecordHeader + record;
    }
    return room.first(size);
}

}  // namespace

HelloRead read_tls_stream(ByteView stream, HandshakeRoom& room, ClientHello& hello) noexcept {
    RecordWalk walk{stream};
    const HelloRead found = walk.run();
    if (found.outcome != HelloOutcome::Whole) {
        return found;
    }
    const std::size_t size = walk.message_size();
    HelloRead read =
        read_client_hello(walk.in_one_record() ? stream.subspan(kRecordHeader, size)
                                               : join_records(stream, size, room.bytes()),
                          hello);
    read.at = found.at;
    return read;
}

}  // namespace sluice
