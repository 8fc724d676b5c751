#include "lib/policy/overrides/named_ranges.hpp"

#include "lib/match/address_key.hpp"
#include "lib/policy/overrides/named_rows.hpp"
#include "lib/rules/group.hpp"

#include <algorithm>
#include <tuple>

namespace sluice {

// Somebody asks about one key: all ranges before it are gone over.
std::vector<const NamedRange*> ranges_around(const NamedRanges& ranges, std::uint8_t key,
                                             ByteView bytes) {
    const IpPrefix network = address_of_key(bytes);
    if (network.version == IpVersion::None) {
        return {};
    }
    const IpVersion version = network.version;
    const Wide wanted = wide_key(version, network.address);
    const auto place = [](const NamedRange& one) {
        return std::tuple{one.range.index, one.range.version, one.range.first};
    };
    auto at = std::upper_bound(
        ranges.begin(), ranges.end(), std::tuple{key, version, wanted},
        [&](const auto& sought, const NamedRange& one) { return sought < place(one); });
    std::vector<const NamedRange*> around;
    while (at != ranges.begin()) {
        --at;
        if (at->range.index != key || at->range.version != version) {
            break;
        }
        if (at->range.last >= wanted) {
            around.push_back(&*at);
        }
    }
    return around;
}

const NamedRange* range_around(const NamedRanges* ranges, std::uint8_t key, ByteView bytes,
                               std::size_t nth) {
    if (ranges == nullptr || nth == 0) {
        return nullptr;
    }
    const std::vector<const NamedRange*> around = ranges_around(*ranges, key, bytes);
    return nth > around.size() ? nullptr : around[nth - 1];
}

std::string_view source_name(OverrideSource source) noexcept {
    return source == OverrideSource::CsvFile ? "override file" : "rule file";
}

std::string text_with_place(const NamedRange& range) {
    return to_text(range.range) + ", " + text_of(range.place);
}

}  // namespace sluice
