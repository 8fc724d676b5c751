#include "lib/match/dimension.hpp"

#include "lib/match/address_key.hpp"
#include "lib/match/address_keys.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

[[nodiscard]] VersionedAddress address_of(Field field, const Subject& subject) noexcept {
    return read_address(field, *subject.headers, subject.frame);
}

// From so many steps on, a table costs a packet less than a trie whose nodes and steps no cache
// holds: one of a MiB and three bytes for each step, or half a MiB and five for IPv6, where there
// are few rows; of 64 MiB, where there are many; and the one for many rows of IPv6, which grows
// with its steps.
constexpr std::size_t kManyPackedSteps = std::size_t{1} << 13;
constexpr std::size_t kManySteps = std::size_t{1} << 17;
constexpr std::size_t kManyWideSteps = std::size_t{1} << 13;

// nullptr: there are few steps, or their table would take more memory than there is for it.
template <typename Fib, typename Key>
std::shared_ptr<const Fib> fib_for(const std::vector<Step<Key>>& steps, std::size_t many) {
    if (steps.size() < many) {
        return nullptr;
    }
    Result<Fib> fib = Fib::make(steps);
    return fib ? std::make_shared<const Fib>(*std::move(fib)) : nullptr;
}

// The least steps for a table of few rows, and for one of many.
struct Many {
    std::size_t packed;
    std::size_t others;
};
constexpr Many kManyV4{kManyPackedSteps, kManySteps};
constexpr Many kManyV6{kManyWideSteps, kManyWideSteps};

template <typename Packed, typename Fib, typename Key>
std::size_t bytes_when_fast(const std::vector<Step<Key>>& steps, const RangeTrie<Key>& trie,
                            const Many& many) {
    const std::size_t packed =
        steps.size() < many.packed ? Packed::kMostBytes + 1 : Packed::bytes_for(steps);
    if (packed <= Packed::kMostBytes) {
        return packed;
    }
    const std::size_t bytes =
        steps.size() < many.others ? Fib::kMostBytes + 1 : Fib::bytes_for(steps);
    if (bytes <= Fib::kMostBytes) {
        return bytes;
    }
    return trie.bytes() != 0
               ? trie.bytes()
               : RangeTrie<Key>{steps, sizeof(Key) == sizeof(Wide) ? kV6Bits : kV4Bits}.bytes();
}

std::vector<std::uint16_t> table_of(const DimensionParts& parts) {
    const std::size_t values = std::size_t{1} << key_bits(parts.field);
    std::vector<std::uint16_t> table(values + 1);
    for (auto step = parts.steps.begin(); step != parts.steps.end(); ++step) {
        const auto next = step + 1;
        const auto last = next == parts.steps.end() ? values : next->first;
        std::fill(table.begin() + static_cast<std::ptrdiff_t>(step->first),
                  table.begin() + static_cast<std::ptrdiff_t>(last),
                  static_cast<std::uint16_t>(step->row));
    }
    table.back() = static_cast<std::uint16_t>(parts.absent_row);
    return table;
}

}  // namespace

Dimension::Dimension(const DimensionParts& parts, Lookups lookups)
    : field_{parts.field},
      place_{place_of(parts.field)},
      absent_row_{parts.absent_row},
      is_inner_{field_ == Field::IpSrc || field_ == Field::IpDst || field_ == Field::ClientIp} {
    const bool many =
        parts.steps.size() >= kManyPackedSteps || parts.v6_steps.size() >= kManyWideSteps;
    is_slim_ = row_of(field_).kind == FieldKind::Address && many && lookups == Lookups::Slim;
    if (is_slim_) {
        return;
    }
    if (row_of(field_).kind == FieldKind::Address) {
        packed_ = fib_for<PackedV4>(parts.steps, kManyPackedSteps);
        fib_ = packed_ != nullptr ? nullptr : fib_for<FibV4>(parts.steps, kManySteps);
        v6_packed_ = fib_for<PackedV6>(parts.v6_steps, kManyWideSteps);
        v6_fib_ = v6_packed_ != nullptr ? nullptr : fib_for<FibV6>(parts.v6_steps, kManyWideSteps);
        trie_ = packed_ != nullptr || fib_ != nullptr
                    ? RangeTrie<std::uint64_t>{}
                    : RangeTrie<std::uint64_t>{parts.steps, kV4Bits};
        v6_trie_ = v6_packed_ != nullptr || v6_fib_ != nullptr
                       ? RangeTrie<Wide>{}
                       : RangeTrie<Wide>{parts.v6_steps, kV6Bits};
    } else if (key_bits(field_) <= kMaxTableBits) {
        table_ = table_of(parts);
    } else {
        trie_ = {parts.steps, key_bits(field_)};
    }
}

std::size_t Dimension::bytes(const DimensionParts& parts) const noexcept {
    const std::size_t bytes = table_.size() * sizeof(table_.front());
    if (row_of(field_).kind != FieldKind::Address) {
        return bytes + trie_.bytes();
    }
    return bytes + bytes_when_fast<PackedV4, FibV4>(parts.steps, trie_, kManyV4) +
           bytes_when_fast<PackedV6, FibV6>(parts.v6_steps, v6_trie_, kManyV6);
}

void Dimension::set_stride(std::uint32_t stride) {
    stride_ = stride;
    for (std::uint16_t& row : table_) {
        row = static_cast<std::uint16_t>(row * stride);
    }
}

template <Dimension::To kTo>
void Dimension::find_rows(std::span<const Subject> subjects, const DimensionParts& parts,
                          std::uint32_t* rows) const noexcept {
    if (!table_.empty()) {
        find_in_table<kTo>(subjects, rows);
        return;
    }
    std::array<std::uint32_t, kMaxSubjects> found;
    if (is_slim_) [[unlikely]] {
        find_by_halving(subjects, parts, found.data());
    } else if (row_of(field_).kind == FieldKind::Address) {
        find_address(subjects, parts, found.data());
    } else {
        find_number(subjects, parts, found.data());
    }
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        rows[i] = (kTo == To::Add ? rows[i] : 0) + found[i] * stride_;
    }
}

template <Dimension::To kTo>
void Dimension::find_in_table(std::span<const Subject> subjects,
                              std::uint32_t* rows) const noexcept {
    // Nothing that is written changes what is read, which the compiler cannot know.
    const std::uint16_t* const table = table_.data();
    const std::size_t count = subjects.size();
    // The last place is that of packets which lack the field. What a field cannot hold is kept
    // inside the others all the same.
    const std::uint64_t absent = table_.size() - 1;
    const FieldPlace place{place_.word, place_.shift, place_.mask & (absent - 1)};
    const Field field = field_;
    for (std::size_t i = 0; i < count; ++i) {
        const PacketHeaders& headers = *subjects[i].headers;
        // Without a branch: which packets have a field is as random as the packets.
        const std::uint64_t there = 0 - static_cast<std::uint64_t>(headers.fields.has(field));
        const std::uint64_t at = (place.read(headers) & there) | (absent & ~there);
        rows[i] = (kTo == To::Add ? rows[i] : 0) + table[at];
    }
}

std::uint64_t Dimension::number_of(const Subject& subject) const noexcept {
    return place_.mask != 0 ? place_.read(*subject.headers)
                            : read_number(field_, *subject.headers, subject.frame);
}

void Dimension::find_number(std::span<const Subject> subjects, const DimensionParts& parts,
                            std::uint32_t* rows) const noexcept {
    for (const Subject& subject : subjects) {
        *rows++ = subject.headers->fields.has(field_) ? trie_.find(number_of(subject), parts.steps)
                                                      : absent_row_;
    }
}

void Dimension::find_by_halving(std::span<const Subject> subjects, const DimensionParts& parts,
                                std::uint32_t* rows) const noexcept {
    for (const Subject& subject : subjects) {
        std::uint32_t& row = *rows++;
        row = absent_row_;
        if (!subject.headers->fields.has(field_)) {
            continue;
        }
        const VersionedAddress address = address_of(field_, subject);
        if (address.version == IpVersion::V4) {
            row = row_by_halving(std::span{parts.steps}, v4_key(address.address));
        } else if (address.version == IpVersion::V6) {
            row = row_by_halving(std::span{parts.v6_steps}, v6_key(address.address));
        }
    }
}

// Among few networks, an address at a time: their tables are at hand.
void Dimension::find_inner_address(std::span<const Subject> subjects, const DimensionParts& parts,
                                   std::uint32_t* rows) const noexcept {
    const std::span<const Step<std::uint64_t>> steps = parts.steps;
    for (const Subject& subject : subjects) {
        const PacketHeaders& headers = *subject.headers;
        const IpAddress& address = field_ == Field::IpDst ? headers.dst : headers.src;
        std::uint32_t& row = *rows++;
        row = absent_row_;
        if (!headers.fields.has(field_)) {
            continue;
        }
        if (headers.ip_version == IpVersion::V4) [[likely]] {
            row = trie_.find(v4_key(address), steps);
        } else if (headers.ip_version == IpVersion::V6) {
            row = v6_trie_.find(v6_key(address), parts.v6_steps);
        }
    }
}

void Dimension::find_address(std::span<const Subject> subjects, const DimensionParts& parts,
                             std::uint32_t* rows) const noexcept {
    if (is_inner_ && packed_ == nullptr && fib_ == nullptr && v6_packed_ == nullptr &&
        v6_fib_ == nullptr && !trie_.is_large() && !v6_trie_.is_large()) {
        find_inner_address(subjects, parts, rows);
        return;
    }
    AddressKeys<std::uint64_t> v4;
    AddressKeys<Wide> v6;
    const auto add = [&](IpVersion version, const IpAddress& address, std::uint32_t at) {
        if (version == IpVersion::V4) [[likely]] {
            v4.add(v4_key(address), at);
            prefetch(v4.last());
        } else if (version == IpVersion::V6) {
            v6.add(v6_key(address), at);
            prefetch(v6.last());
        }
    };
    for (std::uint32_t at = 0; at < subjects.size(); ++at) {
        const PacketHeaders& headers = *subjects[at].headers;
        rows[at] = absent_row_;
        if (!headers.fields.has(field_)) {
            continue;
        }
        if (is_inner_) [[likely]] {
            add(headers.ip_version, field_ == Field::IpDst ? headers.dst : headers.src, at);
        } else {
            const VersionedAddress address = address_of(field_, subjects[at]);
            add(address.version, address.address, at);
        }
    }
    v4.find(packed_.get(), fib_.get(), trie_, std::span{parts.steps}, rows);
    v6.find(v6_packed_.get(), v6_fib_.get(), v6_trie_, std::span{parts.v6_steps}, rows);
}

template void Dimension::find_rows<Dimension::To::Set>(std::span<const Subject>,
                                                       const DimensionParts&,
                                                       std::uint32_t*) const noexcept;
template void Dimension::find_rows<Dimension::To::Add>(std::span<const Subject>,
                                                       const DimensionParts&,
                                                       std::uint32_t*) const noexcept;

}  // namespace sluice
