#include "lib/conn/half_heads.hpp"

#include <algorithm>
#include <bit>

namespace sluice {

HalfHeads::HalfHeads(std::size_t half_heads, std::size_t per_source, ConnectionLines& connections,
                     LinePool& pool)
    : connections_{connections},
      pool_{pool},
      sources_(half_heads),
      chains_(std::bit_ceil(std::max<std::size_t>(half_heads, 1)), kNoSource),
      by_count_(std::min(half_heads, per_source) + 1) {
    for (std::size_t i = half_heads; i-- > 0;) {
        sources_[i].in_chain = free_;
        free_ = static_cast<SourceIndex>(i);
    }
}

HalfHeads::SourceIndex HalfHeads::find(std::uint64_t id) const noexcept {
    SourceIndex at = chains_[id & (chains_.size() - 1)];
    while (at != kNoSource && sources_[at].id != id) {
        at = sources_[at].in_chain;
    }
    return at;
}

HalfHeads::SourceIndex HalfHeads::add_source(std::uint64_t id) noexcept {
    SLUICE_CHECK(free_ != kNoSource);
    const SourceIndex made = free_;
    free_ = sources_[made].in_chain;
    sources_[made] = Source{.id = id, .in_chain = chain_of(id)};
    chain_of(id) = made;
    return made;
}

void HalfHeads::remove_source(SourceIndex source) noexcept {
    SourceIndex* at = &chain_of(sources_[source].id);
    while (*at != source) {
        at = &sources_[*at].in_chain;
    }
    *at = sources_[source].in_chain;
    sources_[source].in_chain = free_;
    free_ = source;
}

void HalfHeads::leave_number(SourceIndex source) noexcept {
    const Source& one = sources_[source];
    Ends& ends = by_count_[one.count];
    (one.before == kNoSource ? ends.first : sources_[one.before].behind) = one.behind;
    (one.behind == kNoSource ? ends.last : sources_[one.behind].before) = one.before;
}

void HalfHeads::enter_number(SourceIndex source) noexcept {
    Source& one = sources_[source];
    Ends& ends = by_count_[one.count];
    one.before = ends.last;
    one.behind = kNoSource;
    (ends.last == kNoSource ? ends.first : sources_[ends.last].behind) = source;
    ends.last = source;
}

void HalfHeads::set_count(SourceIndex source, std::uint32_t count) noexcept {
    if (sources_[source].count != 0) {
        leave_number(source);
    }
    sources_[source].count = count;
    if (count != 0) {
        enter_number(source);
    }
    most_ = std::max(most_, count);
    while (most_ != 0 && by_count_[most_].first == kNoSource) {
        --most_;
    }
}

void HalfHeads::add(ConnectionIndex connection, std::uint64_t source) noexcept {
    SourceIndex at = find(source);
    if (at == kNoSource) {
        at = add_source(source);
    }
    Source& one = sources_[at];
    HeldHead& head = head_of(connection);
    head.source = at;
    head.older = one.newest;
    head.newer = kNoConnection;
    (one.newest == kNoConnection ? one.oldest : head_of(one.newest).newer) = connection;
    one.newest = connection;
    set_count(at, one.count + 1);
    ++size_;
}

void HalfHeads::remove(ConnectionIndex connection) noexcept {
    const HeldHead& head = head_of(connection);
    const SourceIndex at = head.source;
    Source& one = sources_[at];
    (head.older == kNoConnection ? one.oldest : head_of(head.older).newer) = head.newer;
    (head.newer == kNoConnection ? one.newest : head_of(head.newer).older) = head.older;
    set_count(at, one.count - 1);
    if (one.count == 0) {
        remove_source(at);
    }
    --size_;
}

std::size_t HalfHeads::count_of(std::uint64_t source) const noexcept {
    const SourceIndex at = find(source);
    return at == kNoSource ? 0 : sources_[at].count;
}

ConnectionIndex HalfHeads::oldest_of(std::uint64_t source) const noexcept {
    const SourceIndex at = find(source);
    return at == kNoSource ? kNoConnection : sources_[at].oldest;
}

ConnectionIndex HalfHeads::oldest_of_most() const noexcept {
    return most_ == 0 ? kNoConnection : sources_[by_count_[most_].first].oldest;
}

}  // namespace sluice
