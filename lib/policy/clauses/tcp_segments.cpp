#include "lib/policy/clauses/tcp_segments.hpp"

#include "lib/packet/tcp_flags.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {
namespace {

DomainSet flag_words(unsigned set, unsigned clear) {
    DomainSet words;
    for (unsigned word = 0; word <= static_cast<unsigned>(largest(Field::TcpFlags)); ++word) {
        if ((word & (set | clear)) != set) {
            continue;
        }
        if (!words.numbers.empty() && words.numbers.back().last + 1 == word) {
            words.numbers.back().last = word;
        } else {
            words.numbers.push_back({word, word});
        }
    }
    return words;
}

}  // namespace

Clause segments_with(unsigned set, unsigned clear, SetPool& pool) {
    Clause clause{.fields = {{Field::TcpFlags, pool.add(Field::TcpFlags, flag_words(set, clear))}}};
    constexpr auto kFlags = std::to_array<std::pair<Field, unsigned>>(
        {{Field::TcpSyn, kTcpSyn}, {Field::TcpAck, kTcpAck}, {Field::TcpRst, kTcpRst}});
    for (const auto& [field, bit] : kFlags) {
        if (((set | clear) & bit) == 0) {
            continue;
        }
        const Wide value = (set & bit) != 0 ? 1 : 0;
        clause.fields.push_back({field, pool.add(field, {.numbers = {{value, value}}})});
    }
    constexpr Wide kTcp = 6;
    clause.fields.push_back(
        {Field::IpProto, pool.add(Field::IpProto, {.numbers = {{kTcp, kTcp}}})});
    std::sort(clause.fields.begin(), clause.fields.end());
    return clause;
}

}  // namespace sluice
