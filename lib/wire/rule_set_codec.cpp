#include "lib/wire/rule_set_codec.hpp"

namespace sluice {
namespace {

// The least bytes an item takes on the wire: bounds what a count can make us allocate.
constexpr std::size_t kTestSize = 22;
constexpr std::size_t kNumberRangeSize = 16;
constexpr std::size_t kAddressRangeSize = 32;
constexpr std::size_t kKeyPartSize = 3;
constexpr std::size_t kLimitSize = 33;
constexpr std::size_t kRuleSize = 29;

void put_optional(Writer& out, std::optional<std::uint8_t> value) {
    out.number<std::uint8_t>(value.has_value() ? 1 : 0);
    out.number(value.value_or(0));
}

std::optional<std::uint8_t> get_optional(Reader& in) {
    const bool given = in.flag();
    const auto value = in.number<std::uint8_t>();
    if (!given && value != 0) {
        in.fail();  // one message has one encoding
    }
    return given ? std::optional{value} : std::nullopt;
}

void put_test(Writer& out, const Test& test) {
    out.word(test.field);
    out.number<std::uint8_t>(test.negated ? 1 : 0);
    out.number(test.start);
    out.number(test.count);
    out.number(test.v6_start);
    out.number(test.v6_count);
    out.number(test.yes);
    out.number(test.no);
}

Test get_test(Reader& in) {
    Test test;
    test.field = in.word<Field>();
    test.negated = in.flag();
    test.start = in.number<std::uint32_t>();
    test.count = in.number<std::uint32_t>();
    test.v6_start = in.number<std::uint32_t>();
    test.v6_count = in.number<std::uint32_t>();
    test.yes = in.number<std::uint16_t>();
    test.no = in.number<std::uint16_t>();
    return test;
}

void put_range(Writer& out, const NumberRange& range) {
    out.number(range.first);
    out.number(range.last);
}

NumberRange get_number_range(Reader& in) {
    const auto first = in.number<std::uint64_t>();
    return {first, in.number<std::uint64_t>()};
}

IpAddress get_address(Reader& in) {
    IpAddress address;
    const ByteView bytes = in.raw(address.bytes.size());
    if (!bytes.empty()) {
        std::memcpy(address.bytes.data(), bytes.data(), address.bytes.size());
    }
    return address;
}

void put_addresses(Writer& out, const AddressRange& range) {
    out.raw(range.first.bytes);
    out.raw(range.last.bytes);
}

AddressRange get_addresses(Reader& in) {
    const IpAddress first = get_address(in);
    return {first, get_address(in)};
}

void put_part(Writer& out, const KeyPart& part) {
    out.word(part.field);
    out.number(part.v4_length);
    out.number(part.v6_length);
}

KeyPart get_part(Reader& in) {
    const auto field = in.word<Field>();
    const auto v4_length = in.number<std::uint8_t>();
    return {field, v4_length, in.number<std::uint8_t>()};
}

void put_limit(Writer& out, const MeteredLimit& limit) {
    out.number(limit.identity);
    out.text(limit.name);
    out.word(limit.per);
    const Limit& numbers = std::get<TokenBucketLimit>(limit.limit).gcra;
    out.number(numbers.period());
    out.number(numbers.parts());
    out.number(numbers.burst());
}

// A limit as it crosses the wire is parts units in period ns.
MeteredLimit get_limit(Reader& in) {
    const auto identity = in.number<std::uint64_t>();
    std::string name = in.text();
    const auto per = in.word<Per>();
    const auto period = in.number<std::uint64_t>();
    const auto parts = in.number<std::uint32_t>();
    const auto burst = in.number<std::uint64_t>();
    constexpr std::uint64_t kLargest = INT64_MAX;
    const Rate rate{Units{parts},
                    Nanoseconds{static_cast<std::int64_t>(std::min(period, kLargest))}};
    Result<Limit> limit = Limit::make(rate, Units{burst});
    if (!limit || limit->period() != period) {
        in.fail();
        limit = Limit::make({Units{1}, Nanoseconds{1}}, Units{1});
    }
    MeteredLimit metered{.identity = identity,
                         .name = std::move(name),
                         .per = per,
                         .limit = TokenBucketLimit{*limit}};
    return metered;
}

void put_rule(Writer& out, const Rule& rule) {
    out.text(rule.id);
    out.word(rule.mode);
    out.number(rule.when.first);
    out.number(rule.when.count);
    out.word(rule.on_match);
    out.word(rule.missing_key);
    out.word(rule.on_full);
    out.word(rule.on_exceed);
    put_optional(out, rule.tag.dscp);
    put_optional(out, rule.tag.pcp);
    out.list(rule.key, put_part);
    out.list(rule.limits, put_limit);
}

Rule get_rule(Reader& in) {
    Rule rule;
    rule.id = in.text();
    rule.mode = in.word<Mode>();
    rule.when.first = in.number<std::uint32_t>();
    rule.when.count = in.number<std::uint32_t>();
    rule.on_match = in.word<OnMatch>();
    rule.missing_key = in.word<MissingKey>();
    rule.on_full = in.word<OnFull>();
    rule.on_exceed = in.word<Verdict>();
    rule.tag.dscp = get_optional(in);
    rule.tag.pcp = get_optional(in);
    rule.key = in.list<KeyPart>(kKeyPartSize, get_part);
    rule.limits = in.list<MeteredLimit>(kLimitSize, get_limit);
    return rule;
}

}  // namespace

void put_rule_set(Writer& out, const RuleSet& set) {
    out.number(set.generation);
    out.list(set.program.tests, put_test);
    out.list(set.program.numbers, put_range);
    out.list(set.program.v4, put_addresses);
    out.list(set.program.v6, put_addresses);
    out.list(set.rules, put_rule);
}

RuleSet get_rule_set(Reader& in) {
    RuleSet set;
    set.generation = in.number<std::uint64_t>();
    set.program.tests = in.list<Test>(kTestSize, get_test);
    set.program.numbers = in.list<NumberRange>(kNumberRangeSize, get_number_range);
    set.program.v4 = in.list<AddressRange>(kAddressRangeSize, get_addresses);
    set.program.v6 = in.list<AddressRange>(kAddressRangeSize, get_addresses);
    set.rules = in.list<Rule>(kRuleSize, get_rule);
    return set;
}

}  // namespace sluice
