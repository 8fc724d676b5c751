#include "lib/policy/lists/list_text.hpp"

#include "lib/base/whole_number.hpp"
#include "lib/policy/values/network_text.hpp"
#include "lib/policy/values/range_set.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace sluice {
namespace {

constexpr std::string_view kBlanks = " \t";

// The beginning of the comment in a line, or the line's end.
std::size_t comment_at(std::string_view line, ListType type) noexcept {
    std::size_t at = line.find('#');
    while (type == ListType::String && at != std::string_view::npos && at != 0 &&
           kBlanks.find(line[at - 1]) == std::string_view::npos) {
        at = line.find('#', at + 1);
    }
    return std::min(at, line.size());
}

// 443, 0x0806
Result<std::uint64_t> parse_value(std::string_view text) {
    if (!text.starts_with("0x")) {
        return parse_number(text, std::numeric_limits<std::uint64_t>::max());
    }
    if (const std::optional<std::uint64_t> value = whole_number(text.substr(2), 16)) {
        return *value;
    }
    return Error{Errc::BadSyntax,
                 "`" + std::string{text} + "` is no hexadecimal number such as 0x0806"};
}

// The fault of an entry; nullopt: it has been added.
using EntryFault = std::optional<std::string>;

EntryFault add_network(std::string_view entry, ListValues& values) {
    const Result<IpPrefix> network = parse_network(entry);
    if (!network) {
        return network.error().what;
    }
    (network->version == IpVersion::V4 ? values.v4 : values.v6).push_back(range_of(*network));
    return std::nullopt;
}

EntryFault add_number(std::string_view entry, ListValues& values) {
    const std::size_t middle = entry.find('-');
    const Result<std::uint64_t> first = parse_value(entry.substr(0, middle));
    const Result<std::uint64_t> last =
        middle == std::string_view::npos ? first : parse_value(entry.substr(middle + 1));
    if (!first || !last) {
        return "`" + std::string{entry} + "` is no number and no range such as 80-90: " +
               (first ? last.error().what : first.error().what);
    }
    if (*last < *first) {
        return "the range `" + std::string{entry} + "` ends before it begins";
    }
    values.numbers.push_back({*first, *last});
    return std::nullopt;
}

EntryFault add_text(std::string_view entry, ListValues& values) {
    if (entry.size() > kMaxListText) {
        return "an entry has at most " + std::to_string(kMaxListText) + " bytes";
    }
    if (const std::optional<TextFault> fault = find_text_fault(entry)) {
        return std::string{fault->what};
    }
    values.texts.emplace_back(entry);
    return std::nullopt;
}

EntryFault add(std::string_view entry, ListValues& values) {
    if (values.entries == kMaxListEntries) {
        return "a list has at most " + std::to_string(kMaxListEntries) + " entries";
    }
    ++values.entries;
    switch (values.type) {
        case ListType::Cidr:
            return add_network(entry, values);
        case ListType::Number:
            return add_number(entry, values);
        default:
            return add_text(entry, values);
    }
}

// Without comment and blanks; empty: the line has none. A part of the line.
std::string_view entry_of(std::string_view line, ListType type) noexcept {
    line = line.substr(0, comment_at(line, type));
    const std::size_t first = line.find_first_not_of(kBlanks);
    return first == std::string_view::npos
               ? std::string_view{}
               : line.substr(first, line.find_last_not_of(kBlanks) + 1 - first);
}

Position place_of(std::string_view entry, std::string_view line, std::uint32_t number,
                  std::size_t skipped) noexcept {
    const auto before = static_cast<std::size_t>(entry.data() - line.data());
    return {number, static_cast<std::uint32_t>(skipped + before + 1)};
}

void read_line(std::string_view line, std::uint32_t number, std::size_t skipped, ListText& list) {
    const std::string_view entry = entry_of(line, list.values.type);
    if (entry.empty()) {
        return;
    }
    if (EntryFault wrong = add(entry, list.values)) {
        list.add_fault({place_of(entry, line, number, skipped), *std::move(wrong)});
    }
}

void normalise(ListValues& values) {
    sluice::normalise(values.v4);
    sluice::normalise(values.v6);
    sluice::normalise(values.numbers);
    std::sort(values.texts.begin(), values.texts.end());
    values.texts.erase(std::unique(values.texts.begin(), values.texts.end()), values.texts.end());
}

}  // namespace

ListText read_list_text(std::string_view text, ListType type, const std::stop_token& stop) {
    ListText list;
    list.values.type = type;
    each_line(text, stop, [&](std::string_view line, std::uint32_t number, std::size_t skipped) {
        read_line(line, number, skipped, list);
        return true;
    });
    normalise(list.values);
    return list;
}

std::optional<FoundEntry> find_entry(std::string_view text, ListType type,
                                     const std::function<bool(const ListValues&)>& holds) {
    std::optional<FoundEntry> found;
    each_line(text, {}, [&](std::string_view line, std::uint32_t number, std::size_t skipped) {
        const std::string_view entry = entry_of(line, type);
        ListValues one{.type = type};
        if (entry.empty() || add(entry, one) || !holds(one)) {
            return true;
        }
        if (found) {
            ++found->others;
        } else {
            found = FoundEntry{place_of(entry, line, number, skipped), std::string{entry}};
        }
        return true;
    });
    return found;
}

}  // namespace sluice
