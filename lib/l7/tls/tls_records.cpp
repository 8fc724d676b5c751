#include "lib/l7/tls/tls_records.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

// An encrypted record has an authentication tag, or a Finished and a MAC: no fewer bytes.
constexpr std::size_t kLeastEncrypted = 16;
// The longest hello that a server takes, which is OpenSSL.
constexpr std::size_t kLongestServed = kHandshakeHeader + 131'396;

// Faults that tell ciphertext from a hello: its fields were read where its texts are at fault.
constexpr bool may_be_ciphertext(HelloFault fault) noexcept {
    return fault != HelloFault::BadServerName && fault != HelloFault::BadAlpn &&
           fault != HelloFault::TooManyRecords;
}

constexpr HelloRead need_at(std::size_t at) noexcept {
    return {.outcome = HelloOutcome::NeedMore, .at = static_cast<std::uint32_t>(at)};
}
constexpr HelloRead fault_of(HelloFault fault) noexcept {
    return {.outcome = HelloOutcome::Malformed, .fault = fault};
}

// No session sends such a record behind its Finished.
bool is_in_clear(ByteView record) noexcept {
    return is_alert_in_clear(record) ||
           (record[0] == kChangeCipherSpec && load_be16(record, 3) == 1);
}

// Records that begin as a hello which is not read. NotTls: one of a session is among them, so all
// are ciphertext. A session sends few handshake records behind its Finished, and then its data.
HelloRead look_for_session(ByteView bytes) noexcept {
    std::size_t at = 0;
    std::size_t content = 0;
    for (std::size_t i = 0; i < kMaxHelloRecords; ++i) {
        const ByteView record = bytes.subspan(at);
        const bool may_be_clear = record.empty() || may_be_of_handshake(record[0]);
        if (!may_be_clear || (record.size() > 1 && record[1] != kMajorVersion)) {
            return {};
        }
        if (record.size() < kRecordHeader) {
            return need_at(at + kRecordHeader);
        }
        const std::size_t size = load_be16(record, 3);
        if (record[0] != kHandshake || size > kMaxRecord) {
            return is_in_clear(record) ? fault_of(HelloFault::BadRecord) : HelloRead{};
        }
        content += size;
        at += kRecordHeader + size;
        if (content > kMaxHello) {
            return fault_of(HelloFault::TooLong);
        }
        if (at > bytes.size()) {
            return need_at(at);
        }
    }
    return fault_of(HelloFault::TooManyRecords);
}

}  // namespace

bool is_alert_in_clear(ByteView record) noexcept {
    constexpr std::size_t kSize = 2;
    return record[0] == kAlert && record[1] == kMajorVersion && load_be16(record, 3) == kSize;
}

std::size_t cipher_changes(ByteView bytes) noexcept {
    constexpr std::array kRecord{std::byte{0}, std::byte{1}, std::byte{1}};
    constexpr std::size_t kSize = 3 + kRecord.size();
    std::size_t at = 0;
    while (bytes.size() - at >= kSize && bytes[at] == kChangeCipherSpec &&
           bytes[at + 1] == kMajorVersion &&
           std::equal(kRecord.begin(), kRecord.end(),
                      bytes.begin() + static_cast<std::ptrdiff_t>(at + 3))) {
        at += kSize;
    }
    return at;
}

std::size_t empty_records(ByteView bytes) noexcept {
    std::size_t at = 0;
    while (bytes.size() - at >= kRecordHeader && bytes[at] == kHandshake &&
           bytes[at + 1] == kMajorVersion && load_be16(bytes, at + 3) == 0) {
        at += kRecordHeader;
    }
    return at;
}

HelloRead tell_from_ciphertext(const HelloRead& read, ByteView bytes) noexcept {
    const bool is_short = load_be16(bytes, 3) < kLeastEncrypted;
    if (read.outcome != HelloOutcome::Malformed || is_short || !may_be_ciphertext(read.fault)) {
        return read;
    }
    const std::size_t hello = kHandshakeHeader + (load_be32(bytes, kRecordHeader) & 0xFF'FFFF);
    const bool may_go_on = read.fault == HelloFault::BadRecord || read.fault == HelloFault::TooLong;
    return may_go_on && hello <= kLongestServed ? look_for_session(bytes) : HelloRead{};
}

}  // namespace sluice
