#pragma once
#include "lib/l7/stream/connection_table.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// A toy protocol and two who read it: the connection table with the loop that its callers run, and
// a slow model over single bytes. A unit is `H`, the size of its head, the size of its body, and
// what fills the head; positions count from the stream's beginning.
namespace sluice::test {

constexpr std::size_t kToyHead = 3;

[[nodiscard]] inline std::size_t toy_head(std::uint8_t size) {
    return size < kToyHead ? kToyHead : size;
}

struct EvaluatedUnit {
    std::uint64_t at = 0;
    std::string head;
    [[nodiscard]] bool operator==(const EvaluatedUnit&) const = default;
};

// Bytes that came first stand, units are found as soon as they are whole in order.
class StreamModel {
public:
    // What of [at, at + bytes) lies ahead is kept.
    void add(std::uint64_t at, const std::string& bytes) {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            if (at + i >= next_) {
                bytes_.try_emplace(at + i, bytes[i]);
            }
        }
        while (find_unit()) {
        }
    }
    [[nodiscard]] const std::vector<EvaluatedUnit>& units() const { return units_; }
    [[nodiscard]] std::uint64_t next() const { return next_; }
    // Whether a byte that is known is another one there.
    [[nodiscard]] bool differs(std::uint64_t at, const std::string& bytes) const {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            const auto known = bytes_.find(at + i);
            if (known != bytes_.end() && known->second != bytes[i]) {
                return true;
            }
        }
        return false;
    }

private:
    bool find_unit() {
        if (!bytes_.contains(next_) || !bytes_.contains(next_ + 1) || !bytes_.contains(next_ + 2)) {
            return false;
        }
        const std::size_t head = toy_head(static_cast<std::uint8_t>(bytes_.at(next_ + 1)));
        const std::size_t body = static_cast<std::uint8_t>(bytes_.at(next_ + 2));
        EvaluatedUnit unit{next_, {}};
        for (std::size_t i = 0; i < head; ++i) {
            if (!bytes_.contains(next_ + i)) {
                return false;
            }
            unit.head += bytes_.at(next_ + i);
        }
        units_.push_back(unit);
        next_ += head + body;
        bytes_.erase(bytes_.begin(), bytes_.lower_bound(next_));
        return true;
    }

    std::map<std::uint64_t, char> bytes_;
    std::uint64_t next_ = 0;
    std::vector<EvaluatedUnit> units_;
};

// One connection's segments through the table.
class ToyReader {
public:
    ToyReader(ConnectionTable& table, std::uint64_t digest, std::uint32_t isn)
        : table_{table}, digest_{digest}, isn_{isn} {}

    // What the table made of the segment at last.
    const StreamOffer& add(std::uint64_t at, const std::string& bytes, Instant now,
                           std::uint64_t source = 1) {
        const TcpSegment segment{.digest = digest_,
                                 .source = source,
                                 .seq = isn_ + static_cast<std::uint32_t>(at),
                                 .payload = bytes_of(bytes)};
        for (table_.take(segment, scratch_, now, offer_); offer_.parses(); table_.next(offer_)) {
            parse();
        }
        return offer_;
    }
    void verdict(StickyVerdict verdict) { verdict_ = verdict; }
    [[nodiscard]] const std::vector<EvaluatedUnit>& units() const { return units_; }

private:
    void parse() {
        const ByteView bytes = offer_.bytes;
        if (bytes.size() < kToyHead) {
            table_.more(offer_, {kToyHead});
            return;
        }
        const std::size_t head = toy_head(load_u8(bytes, 1));
        if (bytes.size() < head) {
            table_.more(offer_, {head});
            return;
        }
        // Positions follow the sequence numbers over their wrap-around.
        const std::uint64_t at =
            reached_ + static_cast<std::uint64_t>(static_cast<std::int64_t>(sequence_distance(
                           isn_ + static_cast<std::uint32_t>(reached_), offer_.seq)));
        const std::string_view text{reinterpret_cast<const char*>(bytes.data()), head};
        units_.push_back({at, std::string{text}});
        reached_ = at;
        table_.finish(offer_, head, verdict_, {.bytes = load_u8(bytes, 2)});
    }

    ConnectionTable& table_;
    std::uint64_t digest_;
    std::uint32_t isn_;
    inline static std::array<std::byte, std::size_t{1} << 17> scratch_{};
    StreamOffer offer_;
    StickyVerdict verdict_{1};
    std::uint64_t reached_ = 0;
    std::vector<EvaluatedUnit> units_;
};

}  // namespace sluice::test
