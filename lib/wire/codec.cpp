#include "lib/wire/codec.hpp"

#include "lib/wire/bytes_io.hpp"
#include "lib/wire/rule_set_codec.hpp"

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
void put(Writer& out, const ApplyRules& m) {
    put_rule_set(out, m.rules);
    out.text(m.source);
    out.text(m.modes);
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
    out.text(m.rule);
    out.word(m.order);
    out.number(m.count);
}
void put(Writer& out, const AskKey& m) {
    out.word(m.action);
    out.number(m.generation);
    out.text(m.rule);
    out.number(m.key);
    out.bytes(m.bytes);
    out.text(m.limit);
    out.number(m.units);
}
void put(Writer& out, const Welcome& m) {
    out.number(m.version);
    out.number(m.pid);
    out.number(m.generation);
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

void put_rule_stats(Writer& out, const RuleStats& m) {
    out.text(m.id);
    out.number(m.admitted);
    out.number(m.exceeded);
    out.number(m.skipped);
    out.number(m.exempted);
}
RuleStats get_rule_stats(Reader& in) {
    RuleStats m;
    m.id = in.text();
    m.admitted = in.number<std::uint64_t>();
    m.exceeded = in.number<std::uint64_t>();
    m.skipped = in.number<std::uint64_t>();
    m.exempted = in.number<std::uint64_t>();
    return m;
}

// The counters of a port, in the order of the wire.
template <typename Port, typename Fn>
void each_counter(Port& port, Fn&& fn) {
    for (auto* counter :
         {&port.rx_packets, &port.rx_bytes, &port.tx_packets, &port.tx_bytes, &port.rx_missed,
          &port.rx_no_mbuf, &port.rx_errors, &port.tx_errors, &port.tx_full}) {
        fn(*counter);
    }
}

void put_port(Writer& out, const PortStats& m) {
    out.text(m.pair);
    out.text(m.side);
    out.text(m.device);
    out.text(m.driver);
    out.number<std::uint8_t>(m.link_up ? 1 : 0);
    out.number<std::uint8_t>(m.held_down ? 1 : 0);
    out.number(m.mtu);
    out.number(m.rx_queues);
    out.number(m.tx_queues);
    out.number<std::uint8_t>(m.rss ? 1 : 0);
    each_counter(m, [&](std::uint64_t value) { out.number(value); });
}
PortStats get_port(Reader& in) {
    PortStats m;
    m.pair = in.text();
    m.side = in.text();
    m.device = in.text();
    m.driver = in.text();
    m.link_up = in.flag();
    m.held_down = in.flag();
    m.mtu = in.number<std::uint16_t>();
    m.rx_queues = in.number<std::uint16_t>();
    m.tx_queues = in.number<std::uint16_t>();
    m.rss = in.flag();
    each_counter(m, [&](std::uint64_t& value) { value = in.number<std::uint64_t>(); });
    return m;
}

void put_worker(Writer& out, const WorkerStats& m) {
    out.number(m.lcore);
    out.number(m.bursts);
    out.number(m.stalled_ms);
    out.number(m.stalls);
    for (const std::uint64_t count : m.by_verdict) {
        out.number(count);
    }
    for (const std::uint64_t count : m.by_reason) {
        out.number(count);
    }
    for (const std::uint64_t count : m.by_table_event) {
        out.number(count);
    }
    out.number(m.table_slots);
    out.list(m.lanes, [](Writer& o, const std::string& lane) { o.text(lane); });
}
WorkerStats get_worker(Reader& in) {
    WorkerStats m;
    m.lcore = in.number<std::uint32_t>();
    m.bursts = in.number<std::uint64_t>();
    m.stalled_ms = in.number<std::uint64_t>();
    m.stalls = in.number<std::uint64_t>();
    for (std::uint64_t& count : m.by_verdict) {
        count = in.number<std::uint64_t>();
    }
    for (std::uint64_t& count : m.by_reason) {
        count = in.number<std::uint64_t>();
    }
    for (std::uint64_t& count : m.by_table_event) {
        count = in.number<std::uint64_t>();
    }
    m.table_slots = in.number<std::uint64_t>();
    m.lanes = in.list<std::string>(4, [](Reader& i) { return i.text(); });
    return m;
}

void put_key_bucket(Writer& out, const KeyBucketState& m) {
    out.number(m.limit);
    out.number<std::uint8_t>(m.own ? 1 : 0);
    out.number<std::uint8_t>(m.overridden ? 1 : 0);
    out.number(m.step);
    out.number(m.before);
    out.number(m.remaining);
    out.number(m.most);
    out.number(m.wait_ns);
}
KeyBucketState get_key_bucket(Reader& in) {
    KeyBucketState m;
    m.limit = in.number<std::uint8_t>();
    m.own = in.flag();
    m.overridden = in.flag();
    m.step = in.number<std::uint8_t>();
    m.before = in.number<std::uint64_t>();
    m.remaining = in.number<std::uint64_t>();
    m.most = in.number<std::uint64_t>();
    m.wait_ns = in.number<std::int64_t>();
    return m;
}
void put_key_on_worker(Writer& out, const KeyOnWorker& m) {
    out.number(m.lcore);
    out.number<std::uint8_t>(m.answered ? 1 : 0);
    out.number<std::uint8_t>(m.exempt ? 1 : 0);
    out.number<std::uint8_t>(m.banned ? 1 : 0);
    out.number<std::uint8_t>(m.begun ? 1 : 0);
    out.list(m.limits, put_key_bucket);
}
KeyOnWorker get_key_on_worker(Reader& in) {
    constexpr std::size_t kBucketSize = 36;
    KeyOnWorker m;
    m.lcore = in.number<std::uint32_t>();
    m.answered = in.flag();
    m.exempt = in.flag();
    m.banned = in.flag();
    m.begun = in.flag();
    m.limits = in.list<KeyBucketState>(kBucketSize, get_key_bucket);
    return m;
}
void put(Writer& out, const KeyState& m) {
    out.list(m.limits, [](Writer& o, const std::string& name) { o.text(name); });
    out.list(m.workers, put_key_on_worker);
}

void put(Writer& out, const Stats& m) {
    out.number(m.generation);
    out.number(m.uptime_ns);
    out.number<std::uint8_t>(m.panic ? 1 : 0);
    out.list(m.rules, put_rule_stats);
    out.list(m.ports, put_port);
    out.list(m.workers, put_worker);
}

void put_top_key(Writer& out, const TopKey& m) {
    out.text(m.rule);
    out.text(m.key);
    out.number(m.hits);
    out.number(m.hits_error);
    out.number(m.denied);
    out.number(m.denied_error);
    out.number<std::uint8_t>(m.remaining ? 1 : 0);
    out.number(m.remaining.value_or(0));
}
TopKey get_top_key(Reader& in) {
    TopKey m;
    m.rule = in.text();
    m.key = in.text();
    m.hits = in.number<std::uint64_t>();
    m.hits_error = in.number<std::uint64_t>();
    m.denied = in.number<std::uint64_t>();
    m.denied_error = in.number<std::uint64_t>();
    const bool known = in.flag();
    const auto remaining = in.number<std::uint64_t>();
    if (known) {
        m.remaining = remaining;
    } else if (remaining != 0) {
        in.fail();
    }
    return m;
}
void put(Writer& out, const Top& m) {
    out.number(m.window_ns);
    out.number(m.samples);
    out.number(m.lost);
    out.list(m.keys, put_top_key);
}
Top get_top(Reader& in) {
    constexpr std::size_t kTopKeySize = 49;
    Top m;
    m.window_ns = in.number<std::uint64_t>();
    m.samples = in.number<std::uint64_t>();
    m.lost = in.number<std::uint64_t>();
    m.keys = in.list<TopKey>(kTopKeySize, get_top_key);
    return m;
}
GetTop get_get_top(Reader& in) {
    GetTop m;
    m.rule = in.text();
    m.order = in.word<TopOrder>();
    m.count = in.number<std::uint32_t>();
    if (m.order > TopOrder::Remaining) {
        in.fail();
    }
    return m;
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
AskKey get_ask_key(Reader& in) {
    AskKey m;
    m.action = in.word<KeyAction>();
    m.generation = in.number<std::uint64_t>();
    m.rule = in.text();
    m.key = in.number<std::uint8_t>();
    m.bytes = in.bytes();
    m.limit = in.text();
    m.units = in.number<std::uint64_t>();
    if (m.action > KeyAction::Grant || m.bytes.size() > kMaxKeySize) {
        in.fail();
    }
    return m;
}
KeyState get_key_state(Reader& in) {
    constexpr std::size_t kWorkerSize = 12;
    KeyState m;
    m.limits = in.list<std::string>(4, [](Reader& i) { return i.text(); });
    m.workers = in.list<KeyOnWorker>(kWorkerSize, get_key_on_worker);
    return m;
}
Welcome get_welcome(Reader& in) {
    Welcome m;
    m.version = in.number<std::uint32_t>();
    m.pid = in.number<std::uint32_t>();
    m.generation = in.number<std::uint64_t>();
    return m;
}
RunningRules get_running(Reader& in) {
    RunningRules m;
    m.generation = in.number<std::uint64_t>();
    m.source = in.text();
    m.modes = in.text();
    return m;
}
Stats get_stats(Reader& in) {
    constexpr std::size_t kRuleStatsSize = 36;
    constexpr std::size_t kPortSize = 97;
    constexpr std::size_t kWorkerSize = 48 + 8 * (kVerdictCount + kReasonCount);
    Stats m;
    m.generation = in.number<std::uint64_t>();
    m.uptime_ns = in.number<std::uint64_t>();
    m.panic = in.flag();
    m.rules = in.list<RuleStats>(kRuleStatsSize, get_rule_stats);
    m.ports = in.list<PortStats>(kPortSize, get_port);
    m.workers = in.list<WorkerStats>(kWorkerSize, get_worker);
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
