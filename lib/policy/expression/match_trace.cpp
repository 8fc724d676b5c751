#include "lib/policy/expression/match_trace.hpp"

#include "lib/packet/field_text.hpp"
#include "lib/policy/clauses/domain_set.hpp"
#include "lib/policy/texts/text_trace.hpp"
#include "lib/policy/values/range_set.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace sluice {
namespace {

constexpr std::size_t kMostValues = 4;  // of a set, before it is cut short

struct Looked {
    const PacketHeaders& headers;
    ByteView frame;
    std::string_view pair;
};

std::string joined(const std::vector<std::string>& texts) {
    std::string text;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == texts.size() ? " or " : ", ") + texts[i];
    }
    return text;
}

template <typename Range, typename ToText>
void add_ranges(std::vector<std::string>& texts, const std::vector<Range>& ranges, ToText to_text) {
    for (const Range& range : ranges) {
        if (texts.size() == kMostValues) {
            texts.push_back("more");
            return;
        }
        if (texts.size() < kMostValues) {
            texts.push_back(to_text(range));
        }
    }
}

unsigned bits_of(IpVersion version) noexcept {
    return version == IpVersion::V4 ? 32 : 128;
}

// A range that is a prefix is written as one.
std::string range_text(IpVersion version, const AddressRange& range) {
    if (range.first == range.last) {
        return to_text(version, range.first);
    }
    const std::string first = to_text(version, range.first);
    for (unsigned length = 0; length < bits_of(version); ++length) {
        if (range.first == masked(range.first, length) &&
            range.last ==
                range_of({version, range.first, static_cast<std::uint8_t>(length)}).last) {
            return first + "/" + std::to_string(length);
        }
    }
    return first + "-" + to_text(version, range.last);
}

std::string set_text(const Leaf& leaf, std::string_view pair) {
    std::vector<std::string> texts;
    add_ranges(texts, leaf.numbers, [&](const NumberRange& range) {
        const std::string first = value_text(leaf.field, range.first, pair);
        return range.first == range.last ? first
                                         : first + "-" + value_text(leaf.field, range.last, pair);
    });
    add_ranges(texts, leaf.v4,
               [](const AddressRange& range) { return range_text(IpVersion::V4, range); });
    add_ranges(texts, leaf.v6,
               [](const AddressRange& range) { return range_text(IpVersion::V6, range); });
    return joined(texts);
}

template <typename Range, typename Value>
bool has_value(const std::vector<Range>& ranges, const Value& value) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
        return range.first <= value && value <= range.last;
    });
}

bool is_in_set(const Leaf& leaf, const Looked& packet) {
    if (row_of(leaf.field).kind != FieldKind::Address) {
        return has_value(leaf.numbers, read_number(leaf.field, packet.headers, packet.frame));
    }
    const VersionedAddress value = read_address(leaf.field, packet.headers, packet.frame);
    if (is_client(leaf.field)) {
        return contains(set_of(leaf), value) != leaf.negated;
    }
    return has_value(value.version == IpVersion::V4 ? leaf.v4 : leaf.v6, value.address);
}

std::string value_of(const Leaf& leaf, const Looked& packet) {
    return is_client(leaf.field)
               ? to_text(leaf.client.of(read_address(leaf.field, packet.headers, packet.frame)))
               : field_text(leaf.field, packet.headers, packet.frame, packet.pair);
}

// Names of pairs are known by their hashes alone.
bool can_be_written(Field field) noexcept {
    return field != Field::Port;
}

MatchTrace examine_leaf(const Leaf& leaf, const Looked& packet) {
    const std::string field{row_of(leaf.field).name};
    if (!packet.headers.fields.has(leaf.field)) {
        return {false, field + " is absent"};
    }
    const bool inside = is_in_set(leaf, packet);
    const std::string value = value_of(leaf, packet);
    std::string because = field + " is " + value;
    if (!can_be_written(leaf.field)) {
        return {inside != leaf.negated, because};
    }
    const std::string set = set_text(leaf, packet.pair);
    if (!inside && !leaf.negated) {
        because += set.empty() ? ", and nothing is in the set" : ", not " + set;
    } else if (inside && set != value) {
        because += ", in " + set;
    }
    return {inside != leaf.negated, because};
}

MatchTrace examine_text(const TextTest& test, const Looked& packet) {
    const std::string& field = test.name;
    const std::optional<ByteView> text = read_text(test.field, packet.headers, packet.frame);
    if (!text) {
        return {false, field + " is absent"};
    }
    if (test.texts.empty()) {
        return {test.negated,
                field + " is " + shown(test.field, *text) + ", and nothing is in the set"};
    }
    const std::string* const held = find_held(test, *text);
    const bool has = held != nullptr;
    if (test.how == TextHow::Within) {
        const std::string value = shown(test.field, *text);
        const std::string words = words_of(test);
        const std::string set = words == value ? "" : (has ? ", in " : ", not ") + words;
        return {has != test.negated, field + " is " + value + set};
    }
    return {has != test.negated, field + " is " + shown(test.field, *text) +
                                     (has ? ", which " : ", not one that ") + words_of(test, held)};
}

MatchTrace examine_parts(const Expression& condition, const Looked& packet, bool deciding);

MatchTrace examine_node(const Expression& condition, const Looked& packet) {
    switch (condition.kind) {
        case Expression::Kind::Leaf:
            return examine_leaf(condition.leaf, packet);
        case Expression::Kind::Text:
            return examine_text(condition.text, packet);
        case Expression::Kind::Not: {
            MatchTrace inner = examine_node(condition.parts.front(), packet);
            return {!inner.holds, std::move(inner.because)};
        }
        case Expression::Kind::And:
            return examine_parts(condition, packet, false);
        default:
            return examine_parts(condition, packet, true);
    }
}

// The first part that is `deciding` decides; without one, all do.
MatchTrace examine_parts(const Expression& condition, const Looked& packet, bool deciding) {
    std::string all;
    for (const Expression& part : condition.parts) {
        MatchTrace match_trace = examine_node(part, packet);
        if (match_trace.holds == deciding) {
            return match_trace;
        }
        all += (all.empty() ? "" : "; ") + match_trace.because;
    }
    return {!deciding, all};
}

}  // namespace

MatchTrace examine(const Expression& condition, const PacketHeaders& headers, ByteView frame,
                   std::string_view pair) {
    return examine_node(condition, {headers, frame, pair});
}

}  // namespace sluice
