#include "lib/wire/key_codec.hpp"

#include "lib/rules/rule_set.hpp"

namespace sluice {
namespace {

void put_key_bucket(Writer& out, const KeyBucketState& m) {
    out.number(m.limit);
    out.number<std::uint8_t>(m.own ? 1 : 0);
    out.number<std::uint8_t>(m.overridden ? 1 : 0);
    out.number(m.step);
    out.number(m.before);
    out.number(m.remaining);
    out.number(m.most);
    out.number(m.wait_ns);
    out.number(m.given_wider);
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
    m.given_wider = in.number<std::uint64_t>();
    return m;
}
void put_key_on_worker(Writer& out, const KeyOnWorker& m) {
    out.number(m.lcore);
    out.number<std::uint8_t>(m.answered ? 1 : 0);
    out.number<std::uint8_t>(m.exempt ? 1 : 0);
    out.number<std::uint8_t>(m.banned ? 1 : 0);
    out.number<std::uint8_t>(m.begun ? 1 : 0);
    out.number(m.refusals);
    out.number(m.after);
    out.number(m.ban_left_ns);
    out.number<std::uint8_t>(m.lifted ? 1 : 0);
    out.number(m.ban_step);
    out.list(m.limits, put_key_bucket);
}
KeyOnWorker get_key_on_worker(Reader& in) {
    constexpr std::size_t kBucketSize = 44;
    KeyOnWorker m;
    m.lcore = in.number<std::uint32_t>();
    m.answered = in.flag();
    m.exempt = in.flag();
    m.banned = in.flag();
    m.begun = in.flag();
    m.refusals = in.number<std::uint64_t>();
    m.after = in.number<std::uint64_t>();
    m.ban_left_ns = in.number<std::int64_t>();
    m.lifted = in.flag();
    m.ban_step = in.number<std::uint8_t>();
    m.limits = in.list<KeyBucketState>(kBucketSize, get_key_bucket);
    return m;
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

}  // namespace

void put_ask_key(Writer& out, const AskKey& m) {
    out.word(m.action);
    out.number(m.generation);
    out.text(m.rule);
    out.number(m.key);
    out.bytes(m.bytes);
    out.text(m.limit);
    out.number(m.units);
    out.number(m.cost);
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
    m.cost = in.number<std::uint64_t>();
    if (m.action > KeyAction::Unban || m.bytes.size() > kMaxKeySize) {
        in.fail();
    }
    return m;
}

void put_key_state(Writer& out, const KeyState& m) {
    out.list(m.limits, [](Writer& o, const std::string& name) { o.text(name); });
    out.list(m.workers, put_key_on_worker);
}

KeyState get_key_state(Reader& in) {
    constexpr std::size_t kWorkerSize = 38;
    KeyState m;
    m.limits = in.list<std::string>(4, [](Reader& i) { return i.text(); });
    m.workers = in.list<KeyOnWorker>(kWorkerSize, get_key_on_worker);
    return m;
}

void put_get_top(Writer& out, const GetTop& m) {
    out.text(m.rule);
    out.word(m.order);
    out.number(m.count);
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

void put_top(Writer& out, const Top& m) {
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

}  // namespace sluice
