#include "dataplane/box/trace_report.hpp"

#include "dataplane/box/start_time.hpp"
#include "lib/base/log.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace sluice {
namespace {

// Packets of sets before these are shown without the names of their rules.
constexpr std::size_t kKnownSets = 3;

void put_headers(const PacketHeaders& headers, TracedPacket& packet) {
    packet.dir = headers.dir;
    packet.has_ip = headers.fields.has(Field::IpSrc);
    packet.is_v6 = headers.ip_version == IpVersion::V6;
    if (packet.has_ip) {
        packet.src = headers.src;
        packet.dst = headers.dst;
        packet.proto = headers.proto;
    }
    packet.has_ports = headers.fields.has(Field::L4Sport);
    if (packet.has_ports) {
        packet.sport = headers.sport;
        packet.dport = headers.dport;
    }
}

// Names of the rules that a record means.
void put_rules(const TraceRecord& record, const LoadedSet& set, TracedPacket& packet) {
    const auto name = [&](std::uint32_t rule) {
        return rule < set.rules.size() ? set.rules[rule].id : std::string{};
    };
    packet.rule = name(record.decision.rule);
    packet.service = record.service < set.services.all.size() ? set.services.all[record.service].id
                                                              : std::string{};
    const std::size_t named = std::min<std::size_t>(record.matched_count, kMostNamedMatches);
    for (std::size_t i = 0; i < named; ++i) {
        packet.matched.push_back(name(record.matched[i]));
    }
    const bool refused = record.decision.reason == Reason::OverLimit;
    if (refused && record.decision.rule < set.rules.size()) {
        const LoadedRule& rule = set.rules[record.decision.rule];
        packet.limit = record.decision.limit < rule.limits.size()
                           ? rule.limits[record.decision.limit].name
                           : std::string{};
    }
}

}  // namespace

TraceReport::TraceReport(WorkerFleet& workers, RulePublisher& rules)
    : workers_{workers}, rules_{rules}, origin_{time_of_start()} {}

std::vector<std::string> TraceReport::unread_fields(const LoadedRules& condition,
                                                    bool preview) const {
    std::vector<std::string> names;
    const MeterPlan& in_force = rules_.loaded().set().meter_plan;
    if (preview && !condition.set().meter_plan.counts.empty() && !in_force.reads_payload()) {
        names.emplace_back("requests, queries and handshakes");
    }
    const TextFieldSet read = rules_.loaded().set().meter_plan.texts;
    for (const TextFieldRow& row : kTextFields) {
        if (is_of_unit(row.field) && condition.set().meter_plan.texts.has(row.field) &&
            !read.has(row.field)) {
            names.emplace_back(row.name);
        }
    }
    return names;
}

Result<Done> TraceReport::load_condition(BeginTrace& request,
                                         std::optional<LoadedRules>& condition) {
    if (!rules_.vouches_for(request.condition, request.seal)) {
        return Error{Errc::Refused,
                     "the patterns of the condition do not carry the sum that sluiced makes"};
    }
    Result<LoadedRules> loaded = rules_.load_condition(std::move(request.condition));
    if (!loaded) {
        return loaded.error();
    }
    condition.emplace(*std::move(loaded));
    return Done{};
}

Reply TraceReport::begin(BeginTrace request) {
    const auto is_preview = [](const Reader& one) {
        return one.trace->terms().preview.has_value();
    };
    const auto traces =
        running_.size() - static_cast<std::size_t>(std::ranges::count_if(running_, is_preview));
    if (!request.preview && traces == kMostTraces) {
        return Failure{std::to_string(kMostTraces) +
                       " traces are under way, and there is room for no more; one whose reader has "
                       "gone ends within 10 s"};
    }
    std::optional<LoadedRules> condition;
    if (request.conditional) {
        if (const Result<Done> done = load_condition(request, condition); !done) {
            return Failure{done.error().what};
        }
    }
    if (request.preview && (!condition || condition->set().rules.empty())) {
        return Failure{"a preview has a draft"};
    }
    std::vector<std::string> unread =
        condition ? unread_fields(*condition, request.preview) : std::vector<std::string>{};
    TraceTerms terms{.rule = std::move(request.rule),
                     .refused = request.refused,
                     .would_refuse = request.would_refuse,
                     .snap = request.snap};
    if (request.preview) {
        terms.preview = rules_.key_hasher();
        terms.behind = std::move(request.behind);
    }
    auto trace = std::make_shared<Trace>(std::move(terms), std::move(condition), workers_.size());
    if (request.preview) {
        std::erase_if(running_, is_preview);  // it has a place of its own, for one
    }
    running_.push_back({next_, std::move(trace), std::chrono::steady_clock::now()});
    note_rules();
    publish();
    return TraceBegun{
        .origin = origin_,
        .number = next_++,
        .most_per_second = request.preview ? PreviewTap::kMostPerSecond : TraceTap::kMostPerSecond,
        .unread_after_ms = static_cast<std::uint32_t>(std::chrono::milliseconds{kUnread}.count()),
        .unread_fields = std::move(unread)};
}

TraceReport::Reader* TraceReport::find(std::uint64_t origin, std::uint64_t number) {
    const auto found = std::find_if(running_.begin(), running_.end(),
                                    [&](const Reader& one) { return one.number == number; });
    return origin != origin_ || found == running_.end() ? nullptr : &*found;
}

TracedPacket TraceReport::named(const TraceRecord& record, std::size_t worker,
                                const Ports& ports) const {
    const auto pair_of = [&](std::uint64_t name) { return ports.pair_called(name); };
    TracedPacket packet{.utc_ns = record.utc.count(),
                        .lcore = workers_.lcore(worker),
                        .pair = ports.pair_called(record.headers.port),
                        .verdict = record.decision.verdict,
                        .reason = record.decision.reason,
                        .key = text_of_key(std::span{record.key}.first(record.key_size), pair_of),
                        .wait_ns = record.decision.wait.count(),
                        .matched_count = record.matched_count,
                        .would_refuse = record.would_refuse.has_value(),
                        .why_would_refuse = record.would_refuse.value_or(Reason::Unmatched),
                        .wire_size = record.wire_size};
    put_headers(record.headers, packet);
    const auto set = std::find_if(known_.begin(), known_.end(),
                                  [&](const auto& one) { return one->set().load == record.load; });
    if (set != known_.end()) {
        put_rules(record, (*set)->set(), packet);
    }
    const std::span<const std::byte> frame = std::span{record.frame}.first(record.kept);
    packet.frame.assign(frame.begin(), frame.end());
    return packet;
}

TracedPackets TraceReport::packets_of(Trace& trace, const Ports& ports) const {
    TracedPackets found{.known = true, .judges = rules_.judges()};
    found.has_rule = trace.terms().rule.empty() ||
                     rule_called(trace.terms().rule, rules_.loaded().set()) != kNoRule;
    const std::size_t most = kMostAtOnce / trace.workers() + 1;
    for (std::size_t worker = 0; worker < trace.workers(); ++worker) {
        trace.tap(worker).ring().drain(
            [&](const TraceRecord& record) {
                found.packets.push_back(named(record, worker, ports));
            },
            most);
    }
    found.left_out = trace.left_out();
    std::stable_sort(
        found.packets.begin(), found.packets.end(),
        [](const TracedPacket& a, const TracedPacket& b) { return a.utc_ns < b.utc_ns; });
    return found;
}

TracedPackets TraceReport::read(const ReadTrace& request, const Ports& ports) {
    Reader* const running = find(request.origin, request.number);
    if (running == nullptr) {
        return {.other_start = request.origin != origin_};
    }
    running->read_at = std::chrono::steady_clock::now();
    note_rules();
    return packets_of(*running->trace, ports);
}

// All workers sample by the bits of the one that had to take the most.
PreviewedPackets TraceReport::preview_of(Trace& trace, std::uint8_t bits, const Ports& ports) {
    PreviewedPackets found{.known = true, .bits = bits};
    for (std::size_t worker = 0; worker < trace.workers(); ++worker) {
        found.bits = std::max(found.bits, trace.preview_tap(worker)->bits());
    }
    found.bits = std::min(found.bits, PreviewTap::kMostBits);
    const bool has_key = trace.preview_tap(0)->has_key();
    const std::uint64_t last = has_key ? ~std::uint64_t{0} >> found.bits : ~std::uint64_t{0};
    const auto pair_of = [&](std::uint64_t name) { return ports.pair_called(name); };
    for (std::size_t worker = 0; worker < trace.workers(); ++worker) {
        PreviewTap& tap = *trace.preview_tap(worker);
        tap.sample_by(found.bits);
        tap.ring().drain(
            [&](const PreviewRecord& record) {
                if (record.digests[0] <= last) {
                    found.records.push_back(record);
                }
            },
            kMostPreviewed / trace.workers() + 1);
        tap.keys().drain(
            [&](const PreviewKeyRecord& key) {
                if (key.digest <= last) {
                    found.keys.push_back(
                        {key.digest, text_of_key(std::span{key.bytes}.first(key.size), pair_of)});
                }
            },
            kMostKeysAtOnce / trace.workers() + 1);
        found.counted += tap.counted();
        found.decided += tap.decided();
        found.keyless += tap.keyless();
        found.left_out += tap.left_out(has_key ? found.bits : std::uint8_t{0});
    }
    return found;
}

PreviewedPackets TraceReport::read_preview(const ReadPreview& request, const Ports& ports) {
    Reader* const running = find(request.origin, request.number);
    if (running == nullptr || !running->trace->terms().preview) {
        return {.other_start = request.origin != origin_};
    }
    running->read_at = std::chrono::steady_clock::now();
    PreviewedPackets found = preview_of(*running->trace, request.bits, ports);
    found.judges = rules_.judges();
    found.generation = rules_.generation();
    return found;
}

TracedPackets TraceReport::end(const EndTrace& request, const Ports& ports) {
    TracedPackets last = read({request.origin, request.number}, ports);
    if (last.known) {
        std::erase_if(running_, [&](const Reader& one) { return one.number == request.number; });
        publish();
    }
    return last;
}

void TraceReport::note_rules() {
    if (!running_.empty() && (known_.empty() || known_.back() != rules_.shared())) {
        known_.push_back(rules_.shared());
        if (known_.size() > kKnownSets) {
            known_.pop_front();
        }
    }
}

void TraceReport::publish() {
    std::vector<std::shared_ptr<Trace>> traces;
    for (const Reader& one : running_) {
        traces.push_back(one.trace);
    }
    if (traces.empty()) {
        known_.clear();
    }
    rules_.set_traces(std::move(traces));
}

void TraceReport::tick() {
    const auto now = std::chrono::steady_clock::now();
    const std::size_t ended =
        std::erase_if(running_, [&](const Reader& one) { return now - one.read_at > kUnread; });
    if (ended != 0) {
        log_info("ended " + std::to_string(ended) + " traces that nobody has read for " +
                 std::to_string(kUnread.count()) + " s");
        publish();
    }
}

}  // namespace sluice
