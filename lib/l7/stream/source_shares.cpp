#include "lib/l7/stream/source_shares.hpp"

#include "lib/base/check.hpp"

#include <algorithm>
#include <bit>

namespace sluice {

SourceShares::SourceShares(std::size_t connections, std::size_t per_source,
                           std::span<SourceMember> members)
    : members_{members},
      sources_(connections),
      chains_(std::bit_ceil(std::max<std::size_t>(connections, 1)), kNoSource),
      by_count_(std::min(connections, per_source) + 1) {
    for (std::size_t i = connections; i-- > 0;) {
        sources_[i].in_chain = free_;
        free_ = static_cast<SourceIndex>(i);
    }
}

std::size_t SourceShares::memory_of(std::size_t connections, std::size_t per_source) noexcept {
    return connections * sizeof(Source) +
           std::bit_ceil(std::max<std::size_t>(connections, 1)) * sizeof(SourceIndex) +
           (std::min(connections, per_source) + 1) * sizeof(Ends);
}

SourceShares::SourceIndex SourceShares::find(SourceId id) const noexcept {
    SourceIndex at = chains_[id & (chains_.size() - 1)];
    while (at != kNoSource && sources_[at].id != id) {
        at = sources_[at].in_chain;
    }
    return at;
}

SourceShares::SourceIndex SourceShares::add_source(SourceId id) noexcept {
    SLUICE_CHECK(free_ != kNoSource);
    const SourceIndex made = free_;
    free_ = sources_[made].in_chain;
    sources_[made] = Source{.id = id, .in_chain = chain_of(id)};
    chain_of(id) = made;
    return made;
}

void SourceShares::remove_source(SourceIndex source) noexcept {
    SourceIndex* at = &chain_of(sources_[source].id);
    while (*at != source) {
        at = &sources_[*at].in_chain;
    }
    *at = sources_[source].in_chain;
    sources_[source].in_chain = free_;
    free_ = source;
}

void SourceShares::leave_number(SourceIndex source) noexcept {
    const Source& one = sources_[source];
    Ends& ends = by_count_[one.count];
    (one.before == kNoSource ? ends.first : sources_[one.before].behind) = one.behind;
    (one.behind == kNoSource ? ends.last : sources_[one.behind].before) = one.before;
}

void SourceShares::enter_number(SourceIndex source) noexcept {
    Source& one = sources_[source];
    Ends& ends = by_count_[one.count];
    one.before = ends.last;
    one.behind = kNoSource;
    (ends.last == kNoSource ? ends.first : sources_[ends.last].behind) = source;
    ends.last = source;
}

void SourceShares::set_count(SourceIndex source, std::uint32_t count) noexcept {
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

void SourceShares::add(ConnectionIndex connection) noexcept {
    SourceMember& member = members_[connection];
    SourceIndex at = find(member.id);
    if (at == kNoSource) {
        at = add_source(member.id);
    }
    Source& one = sources_[at];
    member.source = at;
    member.older = one.newest;
    member.newer = kNoConnection;
    (one.newest == kNoConnection ? one.oldest : members_[one.newest].newer) = connection;
    one.newest = connection;
    set_count(at, one.count + 1);
    ++size_;
}

void SourceShares::remove(ConnectionIndex connection) noexcept {
    const SourceMember& member = members_[connection];
    const SourceIndex at = member.source;
    Source& one = sources_[at];
    (member.older == kNoConnection ? one.oldest : members_[member.older].newer) = member.newer;
    (member.newer == kNoConnection ? one.newest : members_[member.newer].older) = member.older;
    set_count(at, one.count - 1);
    if (one.count == 0) {
        remove_source(at);
    }
    --size_;
}

std::size_t SourceShares::count_of(SourceId source) const noexcept {
    const SourceIndex at = find(source);
    return at == kNoSource ? 0 : sources_[at].count;
}

ConnectionIndex SourceShares::oldest_of(SourceId source) const noexcept {
    const SourceIndex at = find(source);
    return at == kNoSource ? kNoConnection : sources_[at].oldest;
}

ConnectionIndex SourceShares::oldest_of_most() const noexcept {
    return most_ == 0 ? kNoConnection : sources_[by_count_[most_].first].oldest;
}

}  // namespace sluice
