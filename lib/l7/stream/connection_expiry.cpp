#include "lib/base/prefetch.hpp"
#include "lib/l7/stream/connection_table.hpp"
#include "lib/l7/stream/tick.hpp"

// Connections that go when their time is up. All work is bounded for each call.
namespace sluice {

namespace {

// A client whose segments were lost for long sends them again so late (RFC 6298, 2.5 and 5.5, and
// what systems do).
constexpr Nanoseconds kLongestSilence = std::chrono::minutes{2};

}  // namespace

// A half head that has waited for too long. True: its connection has been forgotten.
bool ConnectionTable::time_out(ConnectionIndex index) noexcept {
    AgeList& ages = ages_of(AgeGroup::HalfHead);
    // A client sends again what fills a gap, in its own time.
    const bool is_awaited =
        lines_[index].is_unheard || (!goes_unread_at_doubt() && held_of(lines_[index]).has_gaps());
    if (is_awaited && age_of(lines_[index]) <= ticks_of(kLongestSilence)) {
        ages.remove(lines_, index);
        ages.push_newest(lines_, index);
        return false;
    }
    if (!held_of(lines_[index]).may_be_none) {
        forget_head(index, ConnectionEvent::HalfHeadTimeout);
        return false;
    }
    const bool is_over = age_of(lines_[index]) > half_head_ticks_ + idle_ticks_;
    if (is_over && held_of(lines_[index]).is_guess != 0) {
        forget_head(index, ConnectionEvent::HalfHeadTimeout);
        return false;
    }
    if (is_over) {
        remove(index, ConnectionEvent::HalfHeadTimeout);
        return true;
    }
    ages.remove(lines_, index);
    ages.push_newest(lines_, index);
    return false;
}

// True if one was forgotten because of its silence, or another one is the oldest now.
bool ConnectionTable::expire_silent(AgeGroup group) noexcept {
    AgeList& ages = ages_of(group);
    const ConnectionIndex oldest = ages.oldest();
    if (oldest == kNoConnection) {
        return false;
    }
    if (age_of(lines_[oldest]) > idle_ticks_) {
        remove(oldest, ConnectionEvent::IdleTimeout);
        if (ages.oldest() != kNoConnection) {
            prefetch0(&lines_[ages.oldest()]);
        }
        return true;
    }
    if (group != AgeGroup::Begun && age_of(lines_[oldest]) < idle_ticks_ / 2) {
        // Touched since it was put there: others behind it may be older.
        ages.remove(lines_, oldest);
        ages.push_newest(lines_, oldest);
        return ages.oldest() != oldest;
    }
    return false;
}

// The same of a half head whose time is up.
bool ConnectionTable::expire_half_head() noexcept {
    const AgeList& ages = ages_of(AgeGroup::HalfHead);
    const ConnectionIndex oldest = ages.oldest();
    if (oldest == kNoConnection || age_of(lines_[oldest]) <= half_head_ticks_) {
        return false;
    }
    (void)time_out(oldest);
    return ages.oldest() != oldest;
}

// Groups take turns: those of one that are only moved, since they may wait for longer or are busy,
// hold up no other group.
bool ConnectionTable::expire_next() noexcept {
    for (std::size_t i = 0; i < kAgeGroups; ++i) {
        const auto group = static_cast<AgeGroup>(tended_);
        tended_ = (tended_ + 1) % kAgeGroups;
        if (group == AgeGroup::HalfHead ? expire_half_head() : expire_silent(group)) {
            return true;
        }
    }
    return false;
}

bool ConnectionTable::expire(Instant now, unsigned most) noexcept {
    set_now(now);
    for (unsigned i = 0; i < most; ++i) {
        if (!expire_next()) {
            return false;
        }
    }
    return true;
}

}  // namespace sluice
