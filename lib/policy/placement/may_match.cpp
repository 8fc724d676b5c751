#include "lib/policy/placement/may_match.hpp"

#include "lib/packet/transport.hpp"

#include <algorithm>

namespace sluice {
namespace {

enum class Answer : std::uint8_t { No, Maybe, Yes };

bool has(const std::vector<NumberRange>& ranges, std::uint64_t value) {
    return std::any_of(ranges.begin(), ranges.end(), [value](const NumberRange& range) {
        return range.first <= value && value <= range.last;
    });
}

// The answer for a field that every packet has.
Answer answer_of(const std::vector<NumberRange>& ranges, std::optional<std::uint64_t> value) {
    if (!value) {
        return Answer::Maybe;
    }
    return has(ranges, *value) ? Answer::Yes : Answer::No;
}

// The answer for a field that some packets lack: a value in the set is a yes only if it is there.
Answer answer_if_there(const std::vector<NumberRange>& ranges, std::optional<std::uint64_t> value) {
    return answer_of(ranges, value) == Answer::No ? Answer::No : Answer::Maybe;
}

// True if all that the ranges hold is TCP and UDP.
bool only_hashed_ports(const std::vector<NumberRange>& ranges) {
    return std::all_of(ranges.begin(), ranges.end(), [](const NumberRange& range) {
        return range.first == range.last && (range.first == kProtoTcp || range.first == kProtoUdp);
    });
}

// An address of the other version lies in no set of this one.
Answer answer_of_address(const Leaf& leaf, const KnownFacts& facts) {
    if (leaf.negated || !facts.version || (leaf.from_list && facts.with_any_list)) {
        return Answer::Maybe;
    }
    const bool is_v4 = *facts.version == static_cast<std::uint64_t>(IpVersion::V4);
    return (is_v4 ? leaf.v4 : leaf.v6).empty() ? Answer::No : Answer::Maybe;
}

Answer ask_leaf(const Leaf& leaf, const KnownFacts& facts) {
    switch (leaf.field) {
        case Field::IpSrc:
        case Field::IpDst:
            return answer_of_address(leaf, facts);
        case Field::Dir:
            return answer_of(leaf.numbers, facts.dir);
        case Field::Port:
            return answer_of(leaf.numbers, facts.port);
        case Field::IpFrag:
            return answer_if_there(leaf.numbers, facts.frag);
        case Field::IpVersion:
            return answer_of(leaf.numbers, facts.version);  // known, it is there
        case Field::IpProto:
            if (facts.proto_has_no_hashed_ports) {
                return only_hashed_ports(leaf.numbers) ? Answer::No : Answer::Maybe;
            }
            return answer_if_there(leaf.numbers, facts.proto);
        default:
            return Answer::Maybe;
    }
}

Answer ask(const Expression& tree, const KnownFacts& facts) {
    switch (tree.kind) {
        case Expression::Kind::Leaf:
            return ask_leaf(tree.leaf, facts);
        case Expression::Kind::Text:
            return Answer::Maybe;
        case Expression::Kind::Not: {
            const Answer inside = ask(tree.parts.front(), facts);
            return inside == Answer::Maybe ? inside
                                           : (inside == Answer::Yes ? Answer::No : Answer::Yes);
        }
        default:
            break;
    }
    const bool all = tree.kind == Expression::Kind::And;
    Answer answer = all ? Answer::Yes : Answer::No;
    for (const Expression& part : tree.parts) {
        answer = all ? std::min(answer, ask(part, facts)) : std::max(answer, ask(part, facts));
    }
    return answer;
}

}  // namespace

bool may_match(const Expression& condition, const KnownFacts& facts) {
    return ask(condition, facts) != Answer::No;
}

IpVersions versions_let_through(const Expression& condition) {
    const auto lets_through = [&](IpVersion version) {
        return may_match(condition,
                         {.version = static_cast<std::uint64_t>(version), .with_any_list = true});
    };
    return {lets_through(IpVersion::V4), lets_through(IpVersion::V6)};
}

}  // namespace sluice
