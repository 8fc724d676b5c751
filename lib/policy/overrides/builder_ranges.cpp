#include "lib/packet/ip_address.hpp"
#include "lib/policy/overrides/override_builder.hpp"

#include <algorithm>
#include <array>

// Networks and ranges among the overrides of a rule.
namespace sluice {
namespace {

using RangeRow = OverrideRows::RangeRow;

std::uint64_t add_range(std::uint64_t sum, const KeyRange& range) noexcept {
    const std::array<Wide, 3> words{Wide{range.index} << 8 | static_cast<unsigned>(range.version),
                                    range.first, range.last};
    return add_to_row_sum(sum, std::as_bytes(std::span{words}));
}

bool is_after(const KeyRange& range, const KeyRange& before) noexcept {
    return range.index != before.index || range.version != before.version ||
           before.last < range.first;
}

// The row that a text has later is the one to mend.
OverrideTwice told(const RangeRow& a, const RangeRow& b, std::string what) {
    const auto order = [](const RangeRow& one) {
        return std::pair{one.row.place.source, one.row.place.line};
    };
    const bool in_order = order(a) <= order(b);
    return {(in_order ? a : b).row.place, (in_order ? b : a).row.place, std::move(what)};
}

std::string overlap_text(const KeyRange& a, const KeyRange& b) {
    return to_text(a) + " and " + to_text(b) + " overlap, and neither lies in the other";
}

}  // namespace

Result<OverrideBuilder::Named> OverrideBuilder::read_name(const OverrideText& text,
                                                          std::optional<std::size_t> tier,
                                                          OverrideSource source) const {
    Result<ReadKey> key = read_key_of_rule(rule_.keys, rule_.missing_key, text.key, tier, names_);
    if (!key && text.banned && text.key.find('/') != std::string_view::npos) {
        key = read_network_of_rule(rule_.keys, text.key, tier);
    }
    if (key) {
        const auto narrower = source == OverrideSource::RunTime
                                  ? std::nullopt
                                  : find_narrower(rule_.keys[key->index], text.key);
        return narrower ? Result<Named>{*narrower} : Result<Named>{Named{*std::move(key), {}}};
    }
    const bool has_address =
        std::any_of(rule_.keys.begin(), rule_.keys.end(), [](const GroupingKey& one) {
            return std::any_of(one.begin(), one.end(),
                               [](const KeyPart& part) { return part.is_address(); });
        });
    if (source == OverrideSource::RunTime || !has_address || !may_be_range(text.key)) {
        return key.error();
    }
    const Result<KeyRange> range = read_key_range(rule_.keys, text.key, tier, names_);
    if (text.banned) {
        return range ? Error{Errc::BadSyntax, "`" + std::string{text.key} +
                                                  "` is a range: a ban names a key, or the "
                                                  "networks that it is made of"}
                     : key.error();
    }
    if (!range) {
        return range.error();
    }
    const std::optional<ReadKey> single = single_key(rule_.keys, *range);
    return Named{single, *range};
}

// Two ranges that overlap lie one within the other, so that one of those around a key is smallest.
void OverrideBuilder::finish_ranges(Overrides& overrides, std::vector<OverrideTwice>& twice) {
    const std::vector<RangeRow>& rows = said_.ranges;
    if (rows.empty()) {
        return;
    }
    overrides.ranges.resize(rule_.keys.size());
    ranges_ = std::make_shared<NamedRanges>();
    std::vector<const RangeRow*> around;
    Group group;
    for (std::size_t at = 0; at < rows.size() && twice.size() < kMostTwiceTold;) {
        const RangeRow& first = rows[at];
        sum_ = add_range(sum_, first.range);
        for (group.clear(); at < rows.size() && rows[at].range == first.range; ++at) {
            group.push_back(&rows[at].row);
            const std::uint64_t piece = said_.piece_sums[rows[at].row.piece];
            sum_ = add_to_row_sum(sum_, std::as_bytes(std::span{&piece, 1}));
        }
        check_group(group, twice);
        while (!around.empty() && is_after(first.range, around.back()->range)) {
            around.pop_back();
        }
        if (!around.empty() && around.back()->range.last < first.range.last) {
            twice.push_back(
                told(*around.back(), first, overlap_text(around.back()->range, first.range)));
            continue;
        }
        if (around.size() == kMaxNestedRanges) {
            twice.push_back(told(*around.front(), first,
                                 to_text(first.range) + ": at most " +
                                     std::to_string(kMaxNestedRanges) +
                                     " networks and ranges lie in one another"));
            continue;
        }
        around.push_back(&first);
        const std::uint32_t plan = plan_of(group, overrides);
        overrides.ranges[first.range.index].push_back(
            {first.range.first, first.range.last, plan,
             static_cast<std::uint8_t>(first.range.version)});
        const OverrideRows::Piece& piece = said_.pieces[first.row.piece];
        ranges_->push_back({first.range, plan, first.row.place, piece.exempt, piece.numbers.until,
                            first.row.reason == 0 ? nullptr : said_.reasons[first.row.reason - 1]});
    }
}

}  // namespace sluice
