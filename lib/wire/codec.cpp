#include "lib/wire/codec.hpp"

#include "lib/wire/bytes_io.hpp"
#include "lib/wire/key_codec.hpp"
#include "lib/wire/rule_set_codec.hpp"
#include "lib/wire/spread_codec.hpp"
#include "lib/wire/stats_codec.hpp"

#include <limits>

namespace sluice {
namespace {

// What stands in front of every message: its place in the variant.
template <typename Variant>
void put_tag(Writer& out, const Variant& message) {
    out.number(static_cast<std::uint8_t>(message.index()));
}

void put(Writer& out, const Hello& m) {
    out.number(m.version);
    out.text(m.program);
}
void put(Writer& out, const RulesInForce& m) {
    put_rule_set(out, m.rules);
    out.text(m.source);
    out.text(m.modes);
}
void put(Writer& out, const ApplyRules& m) {
    put(out, RulesInForce{m.rules, m.source, m.modes});
}
void put(Writer&, const GetRules&) {}
void put(Writer&, const GetStats&) {}
void put(Writer& out, const SetPanic& m) {
    out.number<std::uint8_t>(m.pass ? 1 : 0);
}
void put(Writer& out, const TryRules& m) {
    put(out, m.rules);
}
void put(Writer& out, const KeepRules& m) {
    out.number(m.generation);
}
void put(Writer& out, const GetTop& m) {
    put_get_top(out, m);
}
void put(Writer& out, const AskKey& m) {
    put_ask_key(out, m);
}
void put(Writer& out, const SetMergeInterval& m) {
    out.number(m.interval_ns);
}
void put(Writer& out, const MergeIntervalSet& m) {
    out.number(m.interval_ns);
    out.number(m.shared_limits);
}
void put(Writer& out, const Welcome& m) {
    out.number(m.version);
    out.number(m.pid);
    out.number(m.generation);
    put_spread(out, m.spread);
}
void put(Writer& out, const Applied& m) {
    out.number(m.generation);
}
void put(Writer& out, const RunningRules& m) {
    out.number(m.generation);
    out.text(m.source);
    out.text(m.modes);
}
void put(Writer& out, const PanicSet& m) {
    out.number<std::uint8_t>(m.pass ? 1 : 0);
}
void put(Writer& out, const Failure& m) {
    out.text(m.what);
}

void put(Writer& out, const Stats& m) {
    put_stats(out, m);
}
void put(Writer& out, const Top& m) {
    put_top(out, m);
}
void put(Writer& out, const KeyState& m) {
    put_key_state(out, m);
}

Hello get_hello(Reader& in) {
    const auto version = in.number<std::uint32_t>();
    return {version, in.text()};
}
ApplyRules get_apply(Reader& in) {
    ApplyRules m;
    m.rules = get_rule_set(in);
    m.source = in.text();
    m.modes = in.text();
    return m;
}
TryRules get_try(Reader& in) {
    TryRules m;
    m.rules = get_apply(in);
    return m;
}
Welcome get_welcome(Reader& in) {
    Welcome m;
    m.version = in.number<std::uint32_t>();
    m.pid = in.number<std::uint32_t>();
    m.generation = in.number<std::uint64_t>();
    m.spread = get_spread(in);
    return m;
}
MergeIntervalSet get_merge_interval(Reader& in) {
    MergeIntervalSet m;
    m.interval_ns = in.number<std::uint64_t>();
    m.shared_limits = in.number<std::uint64_t>();
    return m;
}
RunningRules get_running(Reader& in) {
    RunningRules m;
    m.generation = in.number<std::uint64_t>();
    m.source = in.text();
    m.modes = in.text();
    return m;
}
Request get_request(Reader& in) {
    switch (in.number<std::uint8_t>()) {
        case 0:
            return get_hello(in);
        case 1:
            return get_apply(in);
        case 2:
            return GetRules{};
        case 3:
            return GetStats{};
        case 4:
            return SetPanic{in.flag()};
        case 5:
            return get_try(in);
        case 6:
            return KeepRules{in.number<std::uint64_t>()};
        case 7:
            return get_get_top(in);
        case 8:
            return get_ask_key(in);
        case 9:
            return SetMergeInterval{in.number<std::uint64_t>()};
        default:
            in.fail();
            return GetRules{};
    }
}

const RuleSet* rules_in(const Request& request) {
    if (const auto* trial = std::get_if<TryRules>(&request)) {
        return &trial->rules.rules;
    }
    const auto* apply = std::get_if<ApplyRules>(&request);
    return apply == nullptr ? nullptr : &apply->rules;
}

Reply get_reply(Reader& in) {
    switch (in.number<std::uint8_t>()) {
        case 0:
            return get_welcome(in);
        case 1:
            return Applied{in.number<std::uint64_t>()};
        case 2:
            return get_running(in);
        case 3:
            return get_stats(in);
        case 4:
            return PanicSet{in.flag()};
        case 5:
            return Failure{in.text()};
        case 6:
            return get_top(in);
        case 7:
            return get_key_state(in);
        case 8:
            return get_merge_interval(in);
        default:
            in.fail();
            return Failure{};
    }
}

template <typename Variant>
std::vector<std::byte> encode_any(const Variant& message) {
    Writer out;
    put_tag(out, message);
    std::visit([&](const auto& m) { put(out, m); }, message);
    return out.take();
}

}  // namespace

std::vector<std::byte> encode(const Request& request) {
    return encode_any(request);
}

std::vector<std::byte> encode(const Reply& reply) {
    return encode_any(reply);
}

std::vector<std::byte> encode(const RulesInForce& rules) {
    Writer out;
    put_tag(out, Request{ApplyRules{}});
    put(out, rules);
    return out.take();
}

std::vector<std::byte> encode(const RuleSet& rules) {
    Writer out;
    put_rule_set(out, rules);
    return out.take();
}

Result<Request> decode_request(ByteView payload) {
    Reader in{payload};
    Result<Request> request{get_request(in)};
    if (!in.finished()) {
        return Error{Errc::BadSyntax, "not a message of this protocol"};
    }
    if (const RuleSet* rules = rules_in(*request)) {
        if (const std::optional<std::string> fault = find_fault(*rules)) {
            return Error{Errc::BadSyntax, "the rule set is not sound: " + *fault};
        }
    }
    return request;
}

Result<Reply> decode_reply(ByteView payload) {
    Reader in{payload};
    Reply reply = get_reply(in);
    if (!in.finished()) {
        return Error{Errc::BadSyntax, "not a message of this protocol"};
    }
    return reply;
}

std::uint64_t generation_of(const RuleSet& rules) {
    Writer out;
    out.number<std::uint64_t>(0);
    put_rules(out, rules);
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
    for (const std::byte byte : out.take()) {
        hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x0000'0100'0000'01B3;
    }
    return hash == 0 ? 1 : hash;
}

}  // namespace sluice
