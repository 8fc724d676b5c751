// Every operator over every number and address field, against arithmetic that knows no ranges.
#include "lib/packet/parse.hpp"
#include "lib/policy/expression/expression.hpp"
#include "tests/packets/compiled_rules.hpp"
#include "tests/rounds.hpp"
#include "tests/unit/policy/parsed_frame.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace sluice::comparison_test {
namespace {

using test::arp;
using test::Frame;
using test::icmpv6;
using test::parse_of;
using test::ParsedFrame;
using test::tcp;
using test::udp;

std::vector<ParsedFrame> packets() {
    std::vector<ParsedFrame> seen;
    for (const Frame& frame :
         {udp().src("10.1.2.3").dport(53).payload(20),
          tcp().src("10.1.2.3").dport(443).flags(0x012), arp(), icmpv6(135, 0),
          udp().vlan(5).dport(80), udp().payload(16).frag(2, true), udp().src("2001:db8::1"),
          tcp().src("255.255.255.255").dport(65535).payload(1)}) {
        seen.push_back(parse_of(frame));
    }
    return seen;
}

// Whether a comparison is refused since no packet can be so.
bool is_never(const Remark& error) {
    return error.text.ends_with("never so") || error.text.ends_with(" is 4 or 6") ||
           error.text.find(" or more") != std::string::npos;
}

bool says(const std::string& text, const ParsedFrame& seen) {
    const auto parsed = parse_expression(text);
    if (const auto* error = std::get_if<Remark>(&parsed)) {
        EXPECT_TRUE(is_never(*error)) << text << ": " << error->text;
        return false;
    }
    return test::compiled_says(std::get<ParsedExpression>(parsed).tree, seen.headers, seen.frame);
}

struct Operator {
    std::string_view word;
    std::string_view symbol;
    bool (*holds)(std::uint64_t, std::uint64_t);
};
const Operator kOperators[] = {
    {"eq", "==", [](std::uint64_t a, std::uint64_t b) { return a == b; }},
    {"ne", "!=", [](std::uint64_t a, std::uint64_t b) { return a != b; }},
    {"lt", "<", [](std::uint64_t a, std::uint64_t b) { return a < b; }},
    {"le", "<=", [](std::uint64_t a, std::uint64_t b) { return a <= b; }},
    {"gt", ">", [](std::uint64_t a, std::uint64_t b) { return a > b; }},
    {"ge", ">=", [](std::uint64_t a, std::uint64_t b) { return a >= b; }},
};

bool counts(const FieldRow& row) {
    return row.kind == FieldKind::Number || row.kind == FieldKind::Flag;
}

// The values next to what the packet has, and the ends.
std::set<std::uint64_t> values_near(std::uint64_t value, std::uint64_t max) {
    std::set<std::uint64_t> near{0, max, std::min(value, max)};
    if (value > 0) {
        near.insert(std::min(value - 1, max));
    }
    if (value < max) {
        near.insert(value + 1);
    }
    return near;
}

// Whether the expression matches, packet by packet. One that is refused holds of none of them.
std::vector<bool> matches_of(const std::string& text, const std::vector<ParsedFrame>& packets) {
    std::vector<bool> matches(packets.size());
    const auto parsed = parse_expression(text);
    if (const auto* error = std::get_if<Remark>(&parsed)) {
        EXPECT_TRUE(is_never(*error)) << text << ": " << error->text;
        return std::vector<bool>(packets.size(), text.starts_with("not "));
    }
    const Expression& tree = std::get<ParsedExpression>(parsed).tree;
    const Classifier classifier = test::compile_conditions(std::span{&tree, 1}).value();
    for (std::size_t i = 0; i < packets.size(); ++i) {
        matches[i] = !test::rules_for(classifier, packets[i].headers, packets[i].frame).empty();
    }
    return matches;
}

// Each packet beside the values of all of them.
void expect_arithmetic(const FieldRow& row, const std::vector<ParsedFrame>& packets) {
    const std::string name{row.name};
    std::vector<std::optional<std::uint64_t>> has;
    std::set<std::uint64_t> values;
    for (const ParsedFrame& seen : packets) {
        const bool present = seen.headers.fields.has(row.field);
        has.push_back(present ? std::optional{read_number(row.field, seen.headers, seen.frame)}
                              : std::nullopt);
        EXPECT_LE(has.back().value_or(0), row.max) << name;
        values.merge(values_near(has.back().value_or(0), row.max));
    }
    const auto expect = [&](const std::string& text, const auto& holds) {
        const std::vector<bool> matches = matches_of(text, packets);
        for (std::size_t i = 0; i < packets.size(); ++i) {
            EXPECT_EQ(matches[i], holds(has[i])) << text << " of " << has[i].value_or(0);
        }
    };
    expect(name, [](auto value) { return value.value_or(0) != 0; });
    for (const std::uint64_t value : values) {
        for (const Operator& op : kOperators) {
            const auto holds = [&](auto held) { return held && op.holds(*held, value); };
            const std::string number = std::to_string(value);
            const std::string text = name + " " + std::string{op.word} + " " + number;
            expect(text, holds);
            expect("not " + text, [&](auto held) { return !holds(held); });
            expect(name + std::string{op.symbol} + number, holds);
        }
    }
}

TEST(Comparison, OfNumbersIsArithmetic) {
    const std::vector<ParsedFrame> all = packets();
    for (const FieldRow& row : kFields) {
        if (counts(row)) {
            expect_arithmetic(row, all);
        }
    }
}

TEST(Comparison, WithASetAsksEachValue) {
    std::mt19937_64 random{5};
    for (const ParsedFrame& seen : packets()) {
        for (const FieldRow& row : kFields) {
            if (!counts(row)) {
                continue;
            }
            const bool present = seen.headers.fields.has(row.field);
            const std::uint64_t has =
                present ? read_number(row.field, seen.headers, seen.frame) : 0;
            for (int i = 0; i < 20; ++i) {
                std::string set;
                bool want = false;
                for (std::uint64_t size = 1 + random() % 6; size > 0; --size) {
                    const std::set<std::uint64_t> values = values_near(has, row.max);
                    const std::vector<std::uint64_t> near(values.begin(), values.end());
                    const std::uint64_t value = random() % 3 == 0
                                                    ? near[random() % near.size()]
                                                    : std::min(random() % 70'000, row.max);
                    want |= present && has == value;
                    set += " " + std::to_string(value);
                }
                const std::string text = std::string{row.name} + " in {" + set + " }";
                EXPECT_EQ(says(text, seen), want) << text << " of " << has;
            }
        }
    }
}

bool bit(const IpAddress& address, unsigned i) {
    return (std::to_integer<unsigned>(address.bytes[i / 8]) >> (7 - i % 8) & 1) != 0;
}

// Whether the first `length` bits are the same, one by one.
bool agree(const VersionedAddress& a, const VersionedAddress& b, unsigned length) {
    if (a.version != b.version) {
        return false;
    }
    for (unsigned i = 0; i < length; ++i) {
        if (bit(a.address, i) != bit(b.address, i)) {
            return false;
        }
    }
    return true;
}

// An address that shares a random number of bits with `near`.
VersionedAddress neighbour(const VersionedAddress& near, std::mt19937_64& random) {
    const unsigned bits = near.version == IpVersion::V4 ? 32 : 128;
    VersionedAddress other = near;
    const auto flip = static_cast<unsigned>(random() % (bits + 1));
    if (flip < bits) {
        other.address.bytes[flip / 8] ^= static_cast<std::byte>(0x80U >> (flip % 8));
    }
    return other;
}

TEST(Comparison, OfAddressesIsBitByBit) {
    std::mt19937_64 random{7};
    for (const ParsedFrame& seen : packets()) {
        for (const FieldRow& row : kFields) {
            // Of the two fields of one name, this is the one that is asked without `client_ip`.
            if (row.kind != FieldKind::Address || row.field == Field::ProxiedClient) {
                continue;
            }
            const bool present = seen.headers.fields.has(row.field);
            const VersionedAddress has = present ? read_address(row.field, seen.headers, seen.frame)
                                                 : VersionedAddress{IpVersion::V4, {}};
            const unsigned bits = has.version == IpVersion::V4 ? 32 : 128;
            for (int i = 0; i < test::rounds(60); ++i) {
                const VersionedAddress other = neighbour(has, random);
                const auto length = static_cast<unsigned>(random() % (bits + 1));
                const std::string network = to_text(other.version, masked(other.address, length)) +
                                            "/" + std::to_string(length);
                const bool inside = present && agree(has, other, length);
                const std::string name{row.name};
                EXPECT_EQ(says(name + " eq " + network, seen), inside) << name << network;
                EXPECT_EQ(says(name + " ne " + network, seen), present && !inside) << network;
                EXPECT_EQ(says(name + " in {192.0.2.77 " + network + " 2001:db8:f::/48}", seen),
                          inside)
                    << network;
                const std::string call = "prefix(" + name + ", " +
                                         std::to_string(bits == 32 ? length : 32) + "|" +
                                         std::to_string(bits == 32 ? 64 : length) + ")";
                EXPECT_EQ(says(call + " eq " + network, seen), inside) << call << network;
            }
        }
    }
}

}  // namespace
}  // namespace sluice::comparison_test
