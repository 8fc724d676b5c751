#include "lib/l7/stream/datagram_assembly.hpp"

#include "lib/l7/stream/tick.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

// A fragment begins one datagram at most, so that more are forgotten than begin.
constexpr unsigned kExpiredAtOnce = 2;
constexpr std::size_t kUnit = 8;
// Lines change hands by at most half of what a source has more than another, so that few go within
// a timeout.
constexpr RecentSize kGone{.bits = std::size_t{1} << 20};
constexpr std::size_t kOwnersGone = 4096;

AssemblyBudget checked(AssemblyBudget budget) noexcept {
    budget.rooms = std::clamp<std::size_t>(budget.rooms, 1, 0xFFFE);
    budget.datagrams = std::max(budget.datagrams, budget.rooms);
    budget.rooms_per_source = std::clamp<std::size_t>(budget.rooms_per_source, 1, budget.rooms);
    return budget;
}

constexpr std::size_t first_unit(const DatagramPart& part) noexcept {
    return part.offset / kUnit;
}
constexpr std::size_t units_of(const DatagramPart& part) noexcept {
    return (part.bytes.size() + kUnit - 1) / kUnit;
}
constexpr std::uint32_t end_of(const DatagramPart& part) noexcept {
    return part.offset + static_cast<std::uint32_t>(part.bytes.size());
}

// RFC 791 and 8200: all but the last have whole units of eight bytes.
bool is_bad(const DatagramPart& part) noexcept {
    return part.bytes.empty() || part.offset % kUnit != 0 ||
           (part.more && part.bytes.size() % kUnit != 0) ||
           std::size_t{part.offset} + part.bytes.size() > DatagramAssembly::kMostBytes;
}

}  // namespace

DatagramAssembly::DatagramAssembly(const AssemblyBudget& budget)
    : budget_{checked(budget)},
      timeout_ticks_{ticks_of(budget.timeout) + 1},
      lines_{budget_.datagrams},
      members_(lines_.capacity()),
      shares_{budget_.rooms, budget_.rooms_per_source, members_},
      line_members_(lines_.capacity()),
      line_shares_{budget_.datagrams, budget_.datagrams, line_members_},
      gone_{budget.timeout, kGone},
      owners_gone_(kOwnersGone),
      rooms_{uninitialized_array<Room>(budget_.rooms)} {
    free_rooms_.reserve(budget_.rooms);
    for (std::size_t room = budget_.rooms; room-- > 0;) {
        free_rooms_.push_back(static_cast<std::uint16_t>(room));
    }
}

std::uint64_t DatagramAssembly::memory_of(const AssemblyBudget& wanted) noexcept {
    const AssemblyBudget budget = checked(wanted);
    return HopscotchLines<Line>::memory_of(budget.datagrams) +
           2 * HopscotchLines<Line>::lines_for(budget.datagrams) * sizeof(SourceMember) +
           SourceShares::memory_of(budget.rooms, budget.rooms_per_source) +
           SourceShares::memory_of(budget.datagrams, budget.datagrams) +
           RecentDigests::memory(kGone) + kOwnersGone * sizeof(std::uint16_t) +
           budget.rooms * (sizeof(Room) + sizeof(std::uint16_t));
}

std::size_t DatagramAssembly::come_of(const Line& line, const DatagramPart& part) const noexcept {
    const auto& come = rooms_[line.room].come;
    std::size_t count = 0;
    for (std::size_t unit = first_unit(part), end = unit + units_of(part); unit < end; ++unit) {
        count += come.test(unit) ? 1 : 0;
    }
    return count;
}

// All of its bytes have come, as they are.
bool DatagramAssembly::is_copy(const Line& line, const DatagramPart& part) const noexcept {
    const bool fits =
        end_of(part) <= line.end && (part.more || (line.ends && end_of(part) == line.end));
    return fits && come_of(line, part) == units_of(part) &&
           std::memcmp(rooms_[line.room].bytes.data() + part.offset, part.bytes.data(),
                       part.bytes.size()) == 0;
}

AssemblyOutcome DatagramAssembly::fill(Line& line, const DatagramPart& part) noexcept {
    if (is_copy(line, part)) {
        return AssemblyOutcome::Waits;
    }
    const std::uint32_t end = end_of(part);
    const bool reaches_beyond = line.ends && (end > line.end || !part.more);
    const bool ends_too_early = !part.more && end < line.end;
    if (reaches_beyond || ends_too_early || come_of(line, part) != 0) {
        return AssemblyOutcome::Overlap;
    }
    Room& room = rooms_[line.room];
    std::memcpy(room.bytes.data() + part.offset, part.bytes.data(), part.bytes.size());
    for (std::size_t unit = first_unit(part), last = unit + units_of(part); unit < last; ++unit) {
        room.come.set(unit);
    }
    line.units += static_cast<std::uint32_t>(units_of(part));
    line.end = std::max(line.end, end);
    line.ends = line.ends || !part.more;
    const bool is_whole = line.ends && line.units == (line.end + kUnit - 1) / kUnit;
    return is_whole ? AssemblyOutcome::Whole : AssemblyOutcome::Waits;
}

// Fragments of a datagram that was judged: one that differs would be another in its place.
AssemblyOutcome DatagramAssembly::repeat(Line& line, const DatagramPart& part) noexcept {
    if (line.state == State::Refused) {
        return AssemblyOutcome::Refused;
    }
    if (!is_copy(line, part)) {
        return AssemblyOutcome::Overlap;
    }
    const bool is_undecided = line.state == State::Undecided;
    if (completes_again(line, part)) {
        return is_undecided ? AssemblyOutcome::Refused : AssemblyOutcome::Whole;
    }
    return is_undecided ? AssemblyOutcome::Follows : AssemblyOutcome::Copy;
}

// The last of all copies is none of a datagram that is judged in this burst: it comes again, or its
// receiver lacks it.
bool DatagramAssembly::completes_again(Line& line, const DatagramPart& part) noexcept {
    auto& again = rooms_[line.room].come_again;
    const std::size_t first = first_unit(part);
    const std::size_t end = first + units_of(part);
    std::uint32_t more = 0;
    for (std::size_t unit = first; unit < end; ++unit) {
        more += again.test(unit) ? 0 : 1;
    }
    if (line.units_again + more == line.units) {
        if (line.state != State::Undecided) {
            again.reset();
            line.units_again = 0;
        }
        return true;
    }
    for (std::size_t unit = first; unit < end; ++unit) {
        again.set(unit);
    }
    line.units_again += more;
    return false;
}

// True if another one's line is free now. Of a datagram that is judged in this burst somebody asks
// later what became of it.
bool DatagramAssembly::make_line_for(SourceId whose, Instant now) noexcept {
    const ConnectionIndex leaving = line_shares_.oldest_of_most();
    if (leaving == kNoConnection || lines_[leaving].state == State::Undecided ||
        line_shares_.count_of(line_members_[leaving].id) < line_shares_.count_of(whose) + 2) {
        return false;
    }
    const Line& line = lines_[leaving];
    gone_.note(line.digest, now);
    owners_gone_[line.digest % kOwnersGone] = line.owner;
    remove(leaving);
    ++evicted_;
    return true;
}

// A line with a room. The oldest of the same source gives its room up, then that of the source with
// most.
AssemblyOutcome DatagramAssembly::begin(const DatagramPart& part, Instant now,
                                        ConnectionIndex& index) noexcept {
    if (part.offset != 0) {
        return AssemblyOutcome::Unknown;
    }
    const auto whose = static_cast<SourceId>(part.source ^ part.source >> 32);
    const bool has_line = lines_.size() < budget_.datagrams || make_line_for(whose, now);
    index = has_line ? lines_.add(part.digest) : kNoConnection;
    if (index == kNoConnection) {
        return AssemblyOutcome::Full;
    }
    ConnectionIndex leaving = kNoConnection;
    if (shares_.count_of(whose) >= budget_.rooms_per_source) {
        leaving = shares_.oldest_of(whose);
    } else if (shares_.full()) {
        leaving = shares_.oldest_of_most();
    }
    if (leaving != kNoConnection) {
        give_up(leaving);
        ++evicted_;
    }
    Line& line = lines_[index];
    line.forwarded = ticks_of(now.time_since_epoch());
    line.owner = part.owner;
    line.room = free_rooms_.back();
    free_rooms_.pop_back();
    rooms_[line.room].come.reset();
    rooms_[line.room].come_again.reset();
    line.units_again = 0;
    ages_.push_newest(lines_, index);
    members_[index].id = line_members_[index].id = whose;
    shares_.add(index);
    line_shares_.add(index);
    return AssemblyOutcome::Waits;
}

// Nothing more of it passes.
void DatagramAssembly::give_up(ConnectionIndex index) noexcept {
    Line& line = lines_[index];
    if (line.room != kNoRoom) {
        shares_.remove(index);
        free_rooms_.push_back(line.room);
        line.room = kNoRoom;
    }
    line.state = State::GivenUp;
}

void DatagramAssembly::remove(ConnectionIndex index) noexcept {
    give_up(index);
    line_shares_.remove(index);
    ages_.remove(lines_, index);
    lines_.remove(index);
}

void DatagramAssembly::renew(ConnectionIndex index, std::uint32_t ticks) noexcept {
    lines_[index].forwarded = ticks;
    ages_.remove(lines_, index);
    ages_.push_newest(lines_, index);
}

void DatagramAssembly::expire(std::uint32_t ticks) noexcept {
    for (unsigned i = 0; i < kExpiredAtOnce; ++i) {
        const ConnectionIndex oldest = ages_.oldest();
        if (oldest == kNoConnection || !is_over(lines_[oldest], ticks)) {
            return;
        }
        remove(oldest);
    }
}

AssemblyResult DatagramAssembly::take(const DatagramPart& part, Instant now) noexcept {
    const std::uint32_t ticks = ticks_of(now.time_since_epoch());
    expire(ticks);
    if (is_bad(part)) {
        return {AssemblyOutcome::BadPart};
    }
    ConnectionIndex index = lines_.find(part.digest);
    if (index != kNoConnection && is_over(lines_[index], ticks)) {
        remove(index);
        index = kNoConnection;
    }
    if (index == kNoConnection && gone_.may_have(part.digest, now)) {
        return {AssemblyOutcome::GivenUp, owners_gone_[part.digest % kOwnersGone]};
    }
    if (index == kNoConnection) {
        const AssemblyOutcome begun = begin(part, now, index);
        if (begun != AssemblyOutcome::Waits) {
            return {begun};
        }
    }
    Line& line = lines_[index];
    if (line.state == State::GivenUp) {
        return {AssemblyOutcome::GivenUp, line.owner};
    }
    const AssemblyOutcome outcome =
        line.state == State::Filling ? fill(line, part) : repeat(line, part);
    if (passes(outcome)) {
        renew(index, ticks);
    }
    if (outcome == AssemblyOutcome::Overlap && line.state == State::Filling) {
        give_up(index);
    } else if (outcome == AssemblyOutcome::Whole) {
        line.state = State::Undecided;
        return {outcome, line.owner, ByteView{rooms_[line.room].bytes}.first(line.end)};
    }
    return {outcome, line.owner};
}

std::optional<std::uint16_t> DatagramAssembly::owner_of(std::uint64_t digest,
                                                        Instant now) noexcept {
    const ConnectionIndex index = lines_.find(digest);
    const std::uint32_t ticks = ticks_of(now.time_since_epoch());
    if (index != kNoConnection && !is_over(lines_[index], ticks)) {
        return lines_[index].owner;
    }
    return gone_.may_have(digest, now) ? std::optional{owners_gone_[digest % kOwnersGone]}
                                       : std::nullopt;
}

std::optional<ByteView> DatagramAssembly::bytes_of(std::uint64_t digest) const noexcept {
    const ConnectionIndex index = lines_.find(digest);
    if (index == kNoConnection || lines_[index].state != State::Undecided) {
        return std::nullopt;
    }
    const Line& line = lines_[index];
    return ByteView{rooms_[line.room].bytes}.first(line.end);
}

void DatagramAssembly::settle(std::uint64_t digest, bool forwarded) noexcept {
    const ConnectionIndex index = lines_.find(digest);
    if (index != kNoConnection && lines_[index].state == State::Undecided) {
        lines_[index].state = forwarded ? State::Forwarded : State::Refused;
    }
}

bool DatagramAssembly::is_refused(std::uint64_t digest) const noexcept {
    const ConnectionIndex index = lines_.find(digest);
    return index != kNoConnection &&
           (lines_[index].state == State::Refused || lines_[index].state == State::GivenUp);
}

}  // namespace sluice
