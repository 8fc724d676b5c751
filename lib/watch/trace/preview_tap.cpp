#include "lib/watch/trace/preview_tap.hpp"

#include <algorithm>
#include <bit>

namespace sluice {

PreviewTap::PreviewTap(bool has_key, std::uint32_t share)
    : ring_{kRingSize},
      keys_{kKeyRingSize},
      named_{std::make_unique<std::uint32_t[]>(kNamed)},
      has_key_{has_key},
      share_{share} {}

void PreviewTap::tend(Instant now) noexcept {
    if (now >= share_until_) {
        share_until_ = now + kShareLasts;
        left_ = share_;
        paced_ = 0;
        paced_at_ = now;
    }
    if (const std::uint64_t wanted = wanted_bits_.read(); wanted > bits_.read()) [[unlikely]] {
        raise_to(static_cast<std::uint8_t>(std::min<std::uint64_t>(wanted, kMostBits)));
    }
    for (std::size_t i = 0; i < kTended; ++i) {
        Open& open = open_[tended_++ % kOpen];
        if (open.is_used && now - open.began >= kJoined) {
            close(open, now);
        }
    }
}

void PreviewTap::count(const PreviewAmounts& amounts) noexcept {
    packets_.add(amounts.packets);
    bytes_.add(amounts.bytes);
    openings_.add(amounts.openings);
    units_.add(amounts.units);
}

void PreviewTap::show(const PreviewDigests& digests, ByteView key, const PreviewAmounts& amounts,
                      Now now) noexcept {
    Open& open = open_[digests[0] >> 1 & (kOpen - 1)];
    if (open.is_used && (open.record.digests != digests || now.at - open.began >= kJoined)) {
        close(open, now.at);
    }
    if (!open.is_used) {
        open.is_used = true;
        open.began = now.at;
        open.record.utc_ns = now.utc().count();
        open.record.digests = digests;
        name(digests[0], key);
    }
    open.record.amounts += amounts;
}

void PreviewTap::close(Open& open, Instant now) noexcept {
    if (samples(open.record.digests[0])) {
        PreviewRecord* const record = left_ == 0 ? nullptr : ring_.next();
        if (record == nullptr) {
            lose(open.record);
        } else {
            *record = open.record;
            ring_.commit();
            --left_;
        }
        keep_pace(now);
    }
    open.record.amounts = {};
    open.is_used = false;
}

// The rest of the share has to last as long as the share does.
void PreviewTap::keep_pace(Instant now) noexcept {
    if (++paced_ <= share_ / kPaced) {
        return;
    }
    const Nanoseconds took = std::max(now - paced_at_, kJoined);
    auto needed = static_cast<std::uint64_t>(paced_ * ((share_until_ - now) / took + 1));
    auto bits = static_cast<std::uint8_t>(bits_.read());
    for (; needed > left_ && bits < kMostBits; needed /= 2) {
        ++bits;
    }
    raise_to(bits);
    paced_ = 0;
    paced_at_ = now;
}

void PreviewTap::raise_to(std::uint8_t bits) noexcept {
    if (has_key_) {
        bits_.set(bits);
        last_ = ~std::uint64_t{0} >> bits;
    }
}

void PreviewTap::lose(const PreviewRecord& record) noexcept {
    const auto zeros = static_cast<std::size_t>(std::countl_zero(record.digests[0]));
    const std::uint64_t shown = std::max(record.amounts.packets, record.amounts.units);
    lost_[std::min<std::size_t>(zeros, kMostBits)].add(shown);
}

void PreviewTap::name(std::uint64_t digest, ByteView key) noexcept {
    std::uint32_t& known = named_[digest >> 1 & (kNamed - 1)];
    const auto mark = static_cast<std::uint32_t>(digest >> 24) | 1U;
    if (known == mark || key.size() > KeyBytes::kMaxSize) {
        return;
    }
    PreviewKeyRecord* const record = keys_.next();
    if (record == nullptr) {
        return;
    }
    record->digest = digest;
    record->size = static_cast<std::uint16_t>(key.size());
    std::ranges::copy(key, record->bytes.begin());
    keys_.commit();
    known = mark;
}

std::uint64_t PreviewTap::left_out(std::uint8_t bits) const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t zeros = bits; zeros < lost_.size(); ++zeros) {
        sum += lost_[zeros].read();
    }
    return sum;
}

}  // namespace sluice
