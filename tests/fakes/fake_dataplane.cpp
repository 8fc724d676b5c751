#include "tests/fakes/fake_dataplane.hpp"

#include "lib/wire/codec.hpp"
#include "lib/wire/socket.hpp"
#include "tests/fakes/fake_heatmap.hpp"
#include "tests/fakes/fake_worker.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {
namespace {

void send_all(int fd, ByteView bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) {
            return;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
}

void send_reply(int fd, const Reply& reply) {
    const std::vector<std::byte> payload = encode(reply);
    const auto size = static_cast<std::uint32_t>(payload.size());
    send_all(fd, std::as_bytes(std::span{&size, 1}));
    send_all(fd, payload);
}

KernelPortStats kernel() {
    return {.attached = true,
            .native = true,
            .fail_open = true,
            .program = 44,
            .heartbeat_ns = 100'000'000,
            .beat_age_ns = 5'000'000,
            .bridged_packets = 70,
            .bridged_bytes = 4480,
            .dropped_packets = 6,
            .dropped_bytes = 384,
            .early_capacity = 1000,
            .early_networks = 8,
            .early_left_out = 2,
            .managed_packets = 30,
            .managed_refused = 4};
}

PortStats port(const std::string& side, const std::string& device) {
    return {.pair = "uplink",
            .side = side,
            .device = device,
            .driver = "net_fake",
            .link_up = true,
            .mtu = 1500,
            .rx_queues = 2,
            .tx_queues = 2,
            .rss = true,
            .asked = "source",
            .hashes = "source",
            .rx_packets = 1000,
            .rx_bytes = 64'000,
            .tx_packets = 900,
            .tx_bytes = 57'600,
            .rx_missed = 5,
            .rx_no_mbuf = 4,
            .rx_errors = 3,
            .tx_errors = 2,
            .tx_full = 1,
            .kernel = side == "outside" ? kernel() : KernelPortStats{}};
}

WorkerStats worker(std::uint32_t lcore) {
    WorkerStats stats;
    stats.lcore = lcore;
    stats.bursts = 12'345;
    stats.stalled_ms = lcore == 2 ? 1500 : 0;
    stats.stalls = lcore == 2 ? 1 : 0;
    stats.by_verdict[static_cast<std::size_t>(Verdict::Pass)] = 90;
    stats.by_verdict[static_cast<std::size_t>(Verdict::Drop)] = 10;
    stats.bytes_by_verdict[static_cast<std::size_t>(Verdict::Pass)] = 9'000;
    stats.bytes_by_verdict[static_cast<std::size_t>(Verdict::Drop)] = 640;
    stats.by_reason[static_cast<std::size_t>(Reason::WithinLimits)] = 90;
    stats.by_reason[static_cast<std::size_t>(Reason::OverLimit)] = 10;
    stats.by_table_event[static_cast<std::size_t>(TableEvent::TableFull)] = 7;
    stats.connections = {.connections = 40,
                         .half_heads = 6,
                         .held_lines = 12,
                         .refused = 3,
                         .given_up = 2,
                         .quic_hellos = 9,
                         .quic_half_hellos = 1};
    stats.connections.by_event[static_cast<std::size_t>(ConnectionEvent::RefusedFull)] = 5;
    stats.connections.unread[unread_kind(UnreadProtocol::Http, UnreadReason::Gap)] = 4;
    stats.asks = {.waiting = 8, .reservations = 15};
    stats.asks.by_event[static_cast<std::size_t>(AskEvent::NoAnswer)] = 11;
    stats.shaping = {.held = 21, .room = 1'400};
    stats.stages = {.cycles = {160, 30, 20, 40, 50, 100, 200, 5, 395},
                    .packets = 10,
                    .turns = 4,
                    .cycles_per_second = 2'000'000'000};
    stats.table_slots = 1 << 20;
    stats.table_entries = 3'000;
    stats.table_evictions = 44;
    stats.lanes = {"uplink in q" + std::to_string(lcore - 1)};
    return stats;
}

// One key that is known for two seconds, and one for a quarter of one; named after what was asked.
Top top_of(const GetTop& request) {
    const Nanoseconds window = kTopWindows[static_cast<std::size_t>(request.window)];
    Top top{.window_ns = static_cast<std::uint64_t>(window.count()),
            .samples = 70,
            .lost = 3,
            .keys = {}};
    top.keys.push_back({.rule = request.rule.empty() ? "a" : request.rule,
                        .key = "10.0.0.1|53",
                        .window_ns = 2'000'000'000,
                        .hits = 3000,
                        .hits_error = 100,
                        .denied = 1,
                        .denied_error = 2,
                        .bytes = 1'500'000,
                        .bytes_error = 50'000,
                        .remaining = 1234});
    top.keys.push_back({.rule = "b", .key = "", .window_ns = 250'000'000, .hits = 5});
    top.keys.resize(std::min<std::size_t>(top.keys.size(), request.count));
    return top;
}
constexpr std::uint64_t kTraceOrigin = 0x77;
// Two packets, of which the second is kept back; of trace 2 that one alone. Of trace 3 one that a
// service in monitor would refuse.
TracedPackets traced_packets_of(std::uint64_t origin, std::uint64_t number) {
    if (origin != kTraceOrigin || number == 0 || number > 3) {
        return {.other_start = origin != kTraceOrigin};
    }
    TracedPacket passed{.utc_ns = 1'764'000'000'000'005'000,
                        .lcore = 1,
                        .pair = "uplink",
                        .reason = Reason::WithinLimits,
                        .wait_ns = 0,
                        .matched = {"names"},
                        .matched_count = 1,
                        .has_ip = true,
                        .has_ports = true,
                        .proto = 17,
                        .sport = 40'000,
                        .dport = 53,
                        .wire_size = 60,
                        .frame = {std::byte{0x02}, std::byte{0}, std::byte{0xAB}}};
    passed.src.bytes[0] = std::byte{192};
    passed.src.bytes[2] = std::byte{2};
    passed.src.bytes[3] = std::byte{7};
    passed.dst.bytes = passed.src.bytes;
    passed.dst.bytes[3] = std::byte{1};
    TracedPacket dropped = passed;
    dropped.verdict = Verdict::Drop;
    dropped.reason = Reason::OverLimit;
    dropped.rule = "names";
    dropped.key = "192.0.2.7";
    dropped.limit = "1";
    dropped.wait_ns = 1'500'000'000;
    TracedPackets all{.known = true, .judges = true, .left_out = 3, .packets = {}};
    if (number == 1) {
        all.packets.push_back(passed);
    }
    if (number == 3) {
        passed.service = "names";
        passed.would_refuse = true;
        passed.why_would_refuse = Reason::Unreadable;
        all.packets.push_back(passed);
        return all;
    }
    all.packets.push_back(dropped);
    return all;
}
// One of each kind, but those of other rules than `a` come from rule `b`; numbered from 5 on.
Events events_of(const GetEvents& request) {
    Events all{.origin = 77, .next = 5, .missed = 0, .events = {}};
    constexpr std::int64_t kSecond = 1'000'000'000;
    for (std::size_t kind = 0; kind < kKeyEventKindCount; ++kind) {
        const bool is_ban = kind == 3 || kind == 4;
        KeyEvent event{.number = all.next++,
                       .kind = static_cast<KeyEventKind>(kind),
                       .utc_ns = 1'764'000'000 * kSecond + 5'000'000,
                       .for_ns = kind == 2 ? 0 : 3 * kSecond / 2,
                       .lcore = 1,
                       .lost = 0,
                       .rule = is_ban ? "b" : "a",
                       .limit = is_ban ? "" : "1",
                       .key = "10.0.0.1|53"};
        if (event.kind == KeyEventKind::Lost) {
            event = {.number = event.number, .kind = event.kind, .utc_ns = event.utc_ns, .lost = 9};
        }
        if (event.kind == KeyEventKind::Bridged) {
            event = {.number = event.number,
                     .kind = event.kind,
                     .utc_ns = event.utc_ns,
                     .packets = 70,
                     .key = "uplink"};
        }
        if (event.kind == KeyEventKind::ChecksumsTrusted) {
            event = {.number = event.number,
                     .kind = event.kind,
                     .utc_ns = event.utc_ns,
                     .limit = "clients",
                     .key = "web"};
        }
        if (event.kind == KeyEventKind::DebtsForgiven) {
            event = {.number = event.number,
                     .kind = event.kind,
                     .utc_ns = event.utc_ns,
                     .packets = 3,
                     .rule = "a",
                     .key = event.key};
        }
        all.events.push_back(std::move(event));
    }
    const bool is_ours = request.origin == all.origin;
    std::erase_if(all.events,
                  [&](const KeyEvent& event) { return is_ours && event.number < request.from; });
    all.events.resize(std::min<std::size_t>(all.events.size(), request.most));
    all.next = all.events.empty() ? all.next : all.events.back().number + 1;
    return all;
}
// Every limit has 3 of 10 left, every key is banned where a rule bans; the second worker never
// answers.
Reply key_state_of(const AskKey& ask, const ApplyRules& running) {
    const std::vector<Rule>& rules = running.rules.rules;
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const Rule& one) { return one.id == ask.rule; });
    if (ask.generation != running.rules.generation || rule == rules.end()) {
        return Failure{"other rules run than those that were asked about"};
    }
    KeyState state;
    const bool lifts = ask.action == KeyAction::Reset || ask.action == KeyAction::Unban;
    KeyOnWorker first{.lcore = 1,
                      .answered = true,
                      .exempt = false,
                      .banned = false,
                      .begun = false,
                      .refusals = 0,
                      .after = rule->bans() ? 3U : 0U,
                      .ban_left_ns = rule->bans() ? 90'000'000'000 : 0,
                      .lifted = rule->bans() && lifts,
                      .ban_level = 0,
                      .limits = {}};
    for (std::size_t i = 0; i < rule->limits.size(); ++i) {
        state.limits.push_back(rule->limits[i].name);
        if (rule->limits[i].key == ask.key) {
            const bool reset = ask.action == KeyAction::Reset;
            const std::uint64_t granted = ask.action == KeyAction::Grant ? ask.units : 0;
            first.limits.push_back(
                {.limit = static_cast<std::uint8_t>(i),
                 .own = !reset,
                 .overridden = false,
                 .aggregation_level = 0,
                 .before = 3,
                 .remaining = reset ? 10 : std::min<std::uint64_t>(3 + granted, 10),
                 .most = 10,
                 .wait_ns = 0});
        }
    }
    state.workers = {std::move(first),
                     {.lcore = 2,
                      .answered = false,
                      .exempt = false,
                      .banned = false,
                      .begun = true,
                      .refusals = 0,
                      .after = 0,
                      .ban_left_ns = 0,
                      .lifted = false,
                      .ban_level = 0,
                      .limits = {}}};
    return state;
}

// Of the pair `silent` the worker does not answer.
Reply packet_state_of(const AskPacket& ask, const ApplyRules& running, bool panic) {
    if (ask.generation != running.rules.generation) {
        return Failure{"other rules run than those that were asked about"};
    }
    PacketState state = ask.pair == "silent" ? PacketState{.lcore = 1, .is_sure = true}
                                             : fake_answer(ask, running.rules);
    state.enforces = !panic;
    return state;
}

// Three keys, of which the second has no name; of bans as many as are said.
Reply key_page_of(const ListKeys& request, const ApplyRules& running, std::uint64_t banned) {
    const std::vector<Rule>& rules = running.rules.rules;
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const Rule& one) { return one.id == request.rule; });
    if (request.generation != running.rules.generation || rule == rules.end()) {
        return Failure{"other rules run than those that were asked about"};
    }
    const std::uint64_t count = request.bans ? (rule->bans() ? banned : 0) : 3;
    KeyPage page{.live = count};
    for (std::uint64_t at = request.position; at < count && page.keys.size() < request.most; ++at) {
        page.keys.push_back({.named = at != 1,
                             .text = at == 1 ? "" : "10.0.0." + std::to_string(at + 1),
                             .digest = 0xAB0 + at,
                             .lcore = 1,
                             .shared = at == 2,
                             .remaining = request.bans ? 0U : 3U,
                             .most = request.bans ? 0U : 10U,
                             .left_ns = 90'000'000'000});
    }
    page.position = request.position + page.keys.size();
    page.ends = page.position >= count;
    return page;
}

// Two keys, in two parts, that have used twelve units each.
Reply owed_keys_of(const CountOwed& request, const ApplyRules& running) {
    constexpr std::uint64_t kUsed = 12;
    if (request.generation != running.rules.generation) {
        return Failure{"other rules run than those that were asked about"};
    }
    OwedKeys owed{.ends = request.position == 1, .position = request.position + 1};
    if (request.most < kUsed) {
        const std::uint64_t units = kUsed - request.most + 1;
        owed.keys = 1;
        owed.longest_ns =
            request.rate_units == 0
                ? 90'000'000'000
                : static_cast<std::int64_t>(units * request.rate_ns / request.rate_units);
    }
    return owed;
}

// The outside drops early what is banned in 198.18.0.0/15, by the first rule; the inside nothing.
Reply early_drops_of(const FindEarlyDrops& asked, const ApplyRules& running) {
    FoundEarlyDrops found{.state = EarlyDropState::Works};
    found.ports = {{"uplink", "outside", "eth0", 1000, 8, true, true},
                   {.pair = "uplink", .side = "inside", .interface = "eth1"}};
    const IpPrefix network{IpVersion::V4, parse_address("198.18.0.0")->address, 15};
    const IpPrefix key{IpVersion::V4, parse_address("198.18.0.7")->address, 32};
    const auto add = [&](const IpPrefix& one, EarlyDropSource source, std::int64_t left_ns) {
        const unsigned bits = std::min(one.length, asked.network.length);
        const bool overlaps = one.version == asked.network.version &&
                              masked(one.address, bits) == masked(asked.network.address, bits);
        if (overlaps && !running.rules.rules.empty() && found.entries.size() < asked.most) {
            found.entries.push_back(
                {0, one, running.rules.rules[0].id, source, false, left_ns, 70});
        }
    };
    add(key, EarlyDropSource::PenaltyBox, 90'000'000'000);
    add(network, EarlyDropSource::NetworkBan, 0);
    return found;
}

}  // namespace

FakeDataplane::FakeDataplane(std::string path, Asked asked)
    : path_{std::move(path)}, asked_{std::move(asked)} {
    Result<Fd> listener = listen_unix({.path = path_});
    int ends[2];
    if (!listener || ::pipe(ends) != 0) {
        std::fprintf(stderr, "%s\n", listener ? "no pipe" : listener.error().what.c_str());
        std::exit(1);
    }
    listener_ = *std::move(listener);
    stop_in_ = Fd{ends[0]};
    stop_out_ = Fd{ends[1]};
    thread_ = std::thread{[this] { serve(); }};
}

FakeDataplane::~FakeDataplane() {
    hold_packets(false);
    stop_out_ = Fd{};
    thread_.join();
    (void)::unlink(path_.c_str());
}

void FakeDataplane::run(const ApplyRules& rules) {
    const std::lock_guard lock{mutex_};
    running_ = rules;
    running_.rules.generation = generation_of(rules.rules);
}
void FakeDataplane::refuse(const std::string& why) {
    const std::lock_guard lock{mutex_};
    refusal_ = why;
}
void FakeDataplane::hang(bool hangs) {
    const std::lock_guard lock{mutex_};
    hangs_ = hangs;
}
void FakeDataplane::count(std::uint64_t packets_per_second) {
    const std::lock_guard lock{mutex_};
    packets_per_second_ = packets_per_second;
    counts_since_ = std::chrono::steady_clock::now();
}
void FakeDataplane::join_cluster() {
    const std::lock_guard lock{mutex_};
    is_in_cluster_ = true;
}
void FakeDataplane::hold_packets(bool holds) {
    const std::lock_guard lock{mutex_};
    holds_packets_ = holds;
    let_go_.notify_all();
}
void FakeDataplane::ban_keys(std::uint64_t count) {
    const std::lock_guard lock{mutex_};
    banned_keys_ = count;
}
void FakeDataplane::misunderstand(bool misunderstands) {
    const std::lock_guard lock{mutex_};
    misunderstands_ = misunderstands;
}
ApplyRules FakeDataplane::running() {
    const std::lock_guard lock{mutex_};
    return running_;
}
ApplyRules FakeDataplane::kept() {
    const std::lock_guard lock{mutex_};
    return kept_;
}
std::size_t FakeDataplane::times_applied() {
    const std::lock_guard lock{mutex_};
    return times_applied_;
}
bool FakeDataplane::hangs() {
    const std::lock_guard lock{mutex_};
    return hangs_;
}

Stats FakeDataplane::stats_of(const ApplyRules& running, bool panic) {
    Stats stats;
    stats.generation = running.rules.generation;
    stats.uptime_ns = 2'500'000'000;
    stats.panic = panic;
    stats.merge_interval_ns = 1'000'000;
    stats.clock = {.set_back = 1,
                   .set_back_ns = 3'000'000'000,
                   .set_ahead = 2,
                   .instants_left_ns = 60'000'000'000};
    stats.state = {
        .survives = true,
        .rules = KeptRules::Found,
        .kept = 17,
        .mended = 2,
        .unknown = 3,
        .damaged = 9,
        .former_tables = 1,
        .former_debts = 4,
        .moved_debts = 6,
        .put_aside = 5,
        .not_kept = 10,
        .has_snapshots = true,
        .snapshots = {.done = 6, .failed = 7, .latest = {.bytes = 8'192, .age_ns = 1'500'000'000}}};
    for (const Rule& rule : running.rules.rules) {
        stats.rules.push_back({.id = rule.id});
        RuleStats& counted = stats.rules.back();
        counted.counts.admitted = 30;
        counted.counts.exceeded = 20;
        counted.counts.skipped = 10;
        counted.counts.admitted_bytes = 3'000;
        counted.counts.exceeded_bytes = 1'280;
        counted.entries = 12;
        if (rule.events.has_limits()) {
            counted.limited_now = 3;
        }
        for (const MeteredLimit& limit : rule.limits) {
            if (rule.limits.size() > 1) {
                counted.limits.push_back({limit.name, 5, 6});
            }
        }
    }
    stats.ports = {port("outside", "net_tap0,iface=a\"b"), port("inside", "net_tap1")};
    stats.workers = {worker(1), worker(2)};
    stats.services = {{"web", ChecksumTrust::Trusting, ChecksumTrust::Verifying},
                      {"dns", ChecksumTrust::Off, ChecksumTrust::Learning}};
    return stats;
}

// Beside what it counts in any case; each packet has 100 bytes.
void FakeDataplane::grow(Stats& stats) const {
    constexpr std::uint64_t kBytes = 100;
    const std::chrono::nanoseconds since = std::chrono::steady_clock::now() - counts_since_;
    stats.uptime_ns = static_cast<std::uint64_t>(since.count());
    const std::uint64_t packets = packets_per_second_ * (stats.uptime_ns / 1'000) / 1'000'000;
    const std::uint64_t refused = packets / 4;
    WorkerStats& worker = stats.workers[0];
    worker.by_verdict[static_cast<std::size_t>(Verdict::Pass)] += packets - refused;
    worker.by_verdict[static_cast<std::size_t>(Verdict::Drop)] += refused;
    worker.bytes_by_verdict[static_cast<std::size_t>(Verdict::Pass)] +=
        (packets - refused) * kBytes;
    worker.bytes_by_verdict[static_cast<std::size_t>(Verdict::Drop)] += refused * kBytes;
    stats.ports[0].rx_packets += packets;
    stats.ports[0].rx_bytes += packets * kBytes;
    for (std::size_t i = 0; i < stats.rules.size(); ++i) {
        RuleCounts& counts = stats.rules[i].counts;
        counts.admitted += (packets - refused) / (i + 1);
        counts.exceeded += refused / (i + 1);
        counts.admitted_bytes += (packets - refused) / (i + 1) * kBytes;
        counts.exceeded_bytes += refused / (i + 1) * kBytes;
    }
}

void FakeDataplane::serve() {
    for (;;) {
        std::vector<pollfd> ready{{.fd = stop_in_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = listener_.get(), .events = POLLIN, .revents = 0}};
        for (const Client& client : clients_) {
            ready.push_back({.fd = client.fd.get(), .events = POLLIN, .revents = 0});
        }
        (void)::poll(ready.data(), ready.size(), -1);
        if (ready[0].revents != 0) {
            return;
        }
        for (std::size_t i = 2; i < ready.size(); ++i) {
            if (ready[i].revents != 0) {
                receive(clients_[i - 2]);
            }
        }
        std::erase_if(clients_, [](const Client& client) { return !client.fd.is_open(); });
        if (ready[1].revents != 0) {
            accept_client();
        }
    }
}

void FakeDataplane::accept_client() {
    Fd fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (fd.is_open()) {
        clients_.push_back({.fd = std::move(fd), .in = {}});
    }
}

void FakeDataplane::receive(Client& client) {
    std::array<std::byte, 65'536> bytes;
    const ssize_t got = ::recv(client.fd.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) {
        client.fd = Fd{};
        return;
    }
    client.in.feed(ByteView{bytes}.first(static_cast<std::size_t>(got)));
    while (auto payload = client.in.next()) {
        const Result<Request> request = decode_request(*payload);
        const Reply reply = request ? answer(*request) : Failure{request.error().what};
        if (!hangs()) {
            send_reply(client.fd.get(), reply);
        }
    }
}

Reply FakeDataplane::answer(const Request& request) {
    static constexpr std::array<const char*, std::variant_size_v<Request>> kWords{
        "hello",      "apply",     "rules", "stats",  "panic",  "try",     "keep",
        "top",        "key",       "merge", "ping",   "events", "list",    "begin_trace",
        "read_trace", "end_trace", "owed",  "packet", "drops",  "heatmap", "read_preview"};
    if (asked_) {
        asked_(kWords.at(request.index()));
    }
    std::unique_lock lock{mutex_};
    if (std::holds_alternative<AskPacket>(request)) {
        let_go_.wait(lock, [this] { return !holds_packets_; });
    }
    if (const auto* rules = std::get_if<ApplyRules>(&request)) {
        return apply(*rules, true);
    }
    if (const auto* trial = std::get_if<TryRules>(&request)) {
        return apply(trial->rules, false);
    }
    if (const auto* keep = std::get_if<KeepRules>(&request)) {
        return this->keep(*keep);
    }
    if (const auto* panic = std::get_if<SetPanic>(&request)) {
        const bool before = std::exchange(panic_, panic->pass);
        return PanicSet{.pass = panic_, .before = before};
    }
    if (const auto* merge = std::get_if<SetMergeInterval>(&request)) {
        return MergeIntervalSet{merge->interval_ns, 0};
    }
    if (const auto* ask = std::get_if<AskKey>(&request)) {
        return key_state_of(*ask, running_);
    }
    if (const auto* packet = std::get_if<AskPacket>(&request)) {
        return packet_state_of(*packet, running_, panic_);
    }
    if (const auto* list = std::get_if<ListKeys>(&request)) {
        return key_page_of(*list, running_, banned_keys_);
    }
    if (const auto* owed = std::get_if<CountOwed>(&request)) {
        return owed_keys_of(*owed, running_);
    }
    if (const auto* drops = std::get_if<FindEarlyDrops>(&request)) {
        return early_drops_of(*drops, running_);
    }
    if (std::holds_alternative<GetRules>(request)) {
        return RunningRules{running_.rules.generation, running_.source, running_.modes};
    }
    if (std::holds_alternative<GetStats>(request)) {
        Stats stats = stats_of(running_, panic_);
        stats.store = {.in_cluster = is_in_cluster_,
                       .state = static_cast<std::uint8_t>(StoreLinkState::Ready)};
        if (packets_per_second_ != 0) {
            grow(stats);
        }
        return stats;
    }
    if (std::holds_alternative<Ping>(request)) {
        return Applied{running_.rules.generation};
    }
    if (const auto* top = std::get_if<GetTop>(&request)) {
        return top_of(*top);
    }
    if (const auto* events = std::get_if<GetEvents>(&request)) {
        return events_of(*events);
    }
    if (const auto* heatmap = std::get_if<ReadHeatmap>(&request)) {
        return fake_heatmap(*heatmap, running_.rules, std::time(nullptr));
    }
    if (const auto* trace = std::get_if<BeginTrace>(&request)) {
        return TraceBegun{.origin = kTraceOrigin,
                          .number = trace->preview        ? preview_.begin()
                                    : trace->would_refuse ? 3U
                                    : trace->refused      ? 2U
                                                          : 1U,
                          .most_per_second = 1000,
                          .unread_after_ms = 10'000,
                          .unread_fields = {}};
    }
    if (const auto* read = std::get_if<ReadTrace>(&request)) {
        return traced_packets_of(read->origin, read->number);
    }
    if (const auto* read = std::get_if<ReadPreview>(&request)) {
        const std::chrono::nanoseconds utc = std::chrono::system_clock::now().time_since_epoch();
        return preview_.read(read->number, read->bits, utc.count());
    }
    if (const auto* end = std::get_if<EndTrace>(&request)) {
        return traced_packets_of(end->origin, end->number);
    }
    return Welcome{kWireVersion, static_cast<std::uint32_t>(::getpid()), running_.rules.generation,
                   usual_rss_mapping()};
}

Reply FakeDataplane::keep(const KeepRules& request) {
    if (!refusal_.empty() || request.generation != running_.rules.generation) {
        return Failure{refusal_.empty() ? "other rules run" : refusal_};
    }
    kept_ = running_;
    return Applied{request.generation};
}

Reply FakeDataplane::apply(const ApplyRules& request, bool keep) {
    if (!refusal_.empty()) {
        return Failure{refusal_};
    }
    ++times_applied_;
    running_ = request;
    running_.rules.generation = generation_of(request.rules);
    if (keep) {
        kept_ = running_;
    }
    return Applied{running_.rules.generation + (misunderstands_ ? 1 : 0)};
}

}  // namespace sluice
