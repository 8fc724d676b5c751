#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/now.hpp"
#include "lib/share/core.hpp"
#include "lib/share/record_ring.hpp"
#include "lib/watch/trace/preview_record.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sluice {

// A worker's end of a preview: all packets that the draft matches are counted, and those of sampled
// keys shown, on their way to the one thread that reads. A key is sampled by `bits` if the upper
// bits of its digest are zero, so that keys sampled by more bits are among those sampled by fewer.
// A worker that is about to show more than its share goes on with more bits: the keys that stay
// have been shown from the beginning.
class PreviewTap {
public:
    static constexpr std::size_t kRingSize = 8192;
    static constexpr std::size_t kKeyRingSize = 512;
    // Per worker: what a reader ten times a second takes out of the ring with room to spare.
    static constexpr std::uint32_t kMostPerSecond = 20'000;
    static constexpr std::uint8_t kMostBits = 40;
    // Packets of a key within this time are one record: a flood of one key takes few of them.
    static constexpr Nanoseconds kJoined = std::chrono::milliseconds{1};

    // A draft without a key has one bucket, which is always sampled. `share`: records of a tenth of
    // a second.
    explicit PreviewTap(bool has_key, std::uint32_t share = kMostPerSecond / kSharesPerSecond);

    // The worker's. Once a burst, also where nothing has come.
    void tend(Instant now) noexcept;
    // Packets that the draft matches, and that come to it.
    void count(const PreviewAmounts& amounts) noexcept;
    // Packets that it matches and other rules have decided; those that lack the draft's key.
    void count_decided(std::uint64_t packets) noexcept { decided_.add(packets); }
    void count_keyless(std::uint64_t packets) noexcept { keyless_.add(packets); }
    [[nodiscard]] bool samples(std::uint64_t digest) const noexcept { return digest <= last_; }
    // A packet of a sampled key, whose bytes are the first key's.
    void show(const PreviewDigests& digests, ByteView key, const PreviewAmounts& amounts,
              Now now) noexcept;

    // False: the draft has one bucket for all.
    [[nodiscard]] bool has_key() const noexcept { return has_key_; }

    // The reader's.
    void sample_by(std::uint8_t bits) noexcept { wanted_bits_.set(bits); }
    [[nodiscard]] std::uint8_t bits() const noexcept {
        return static_cast<std::uint8_t>(bits_.read());
    }
    [[nodiscard]] PreviewAmounts counted() const noexcept {
        return {packets_.read(), bytes_.read(), openings_.read(), units_.read()};
    }
    [[nodiscard]] std::uint64_t decided() const noexcept { return decided_.read(); }
    [[nodiscard]] std::uint64_t keyless() const noexcept { return keyless_.read(); }
    // Packets of keys sampled by so many bits that found no room.
    [[nodiscard]] std::uint64_t left_out(std::uint8_t bits) const noexcept;
    [[nodiscard]] RecordRing<PreviewRecord>& ring() noexcept { return ring_; }
    [[nodiscard]] RecordRing<PreviewKeyRecord>& keys() noexcept { return keys_; }

private:
    static constexpr std::uint32_t kSharesPerSecond = 10;
    static constexpr Nanoseconds kShareLasts =
        Nanoseconds{std::chrono::seconds{1}} / kSharesPerSecond;
    static constexpr std::size_t kOpen = 256;    // records that packets are still added to
    static constexpr std::size_t kTended = 4;    // of these, looked at once a burst
    static constexpr std::uint32_t kPaced = 8;   // looks at the pace in a share
    static constexpr std::size_t kNamed = 8192;  // keys that are known to have been named

    struct Open {
        PreviewRecord record;
        Instant began{};
        bool is_used = false;
    };
    void raise_to(std::uint8_t bits) noexcept;
    void close(Open& open, Instant now) noexcept;
    void keep_pace(Instant now) noexcept;
    void lose(const PreviewRecord& record) noexcept;
    void name(std::uint64_t digest, ByteView key) noexcept;

    RecordRing<PreviewRecord> ring_;
    RecordRing<PreviewKeyRecord> keys_;
    std::array<Open, kOpen> open_{};
    std::unique_ptr<std::uint32_t[]> named_;  // by digest
    bool has_key_;
    std::uint32_t share_;
    std::uint32_t left_ = 0;  // of the share
    Instant share_until_{};
    std::uint32_t paced_ = 0;  // records since the pace was looked at last
    Instant paced_at_{};
    std::size_t tended_ = 0;
    std::uint64_t last_ = ~std::uint64_t{0};  // the last digest that is sampled
    Counter bits_;
    Counter wanted_bits_;
    Counter packets_;
    Counter bytes_;
    Counter openings_;
    Counter units_;
    Counter decided_;
    Counter keyless_;
    std::array<Counter, kMostBits + 1>
        lost_;  // packets, by the zeros that their digest begins with
};

// The digest that keys are sampled by: all bits of the keyed hash go into each of it, by another
// product than tables, steering and heat maps use. Never 0.
[[nodiscard]] inline std::uint64_t preview_digest(std::uint64_t hash) noexcept {
    constexpr std::uint64_t kOdd = 0xA076'1D64'78BD'642F;
    constexpr std::uint64_t kOther = 0xE703'7ED1'A0B4'28DB;
    const std::uint64_t product = hash * kOdd;
    return (product ^ product >> 32) * kOther | 1;
}

}  // namespace sluice
