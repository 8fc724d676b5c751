#pragma once
#include "lib/rules/limit_numbers.hpp"
#include "lib/rules/service_fault.hpp"
#include "lib/wire/codec.hpp"
#include "tests/unit/match/random_parts.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

// Messages with random content, sound as the sender's are; the same for the same seed.
class RandomMessage {
public:
    explicit RandomMessage(std::uint64_t seed) : random_{seed} {}

    std::vector<Request> requests() {
        return {
            Hello{number<std::uint32_t>(), text(), text()},
            ApplyRules{rule_set(), text(), text(), seal(), flag()},
            GetRules{},
            GetStats{},
            SetPanic{flag(), number<std::uint64_t>()},
            TryRules{{rule_set(), text(), text(), seal(), flag()}},
            KeepRules{number<std::uint64_t>()},
            GetTop{text(), static_cast<TopOrder>(below(4)), static_cast<TopWindow>(below(3)),
                   number<std::uint32_t>()},
            AskKey{static_cast<KeyAction>(below(5)), number<std::uint64_t>(), text(),
                   number<std::uint8_t>(), std::vector<std::byte>(below(kMaxKeySize + 1)), text(),
                   number<std::uint64_t>()},
            SetMergeInterval{number<std::uint64_t>()},
            Ping{},
            GetEvents{number<std::uint64_t>(), number<std::uint64_t>(), number<std::uint32_t>()},
            ListKeys{number<std::uint64_t>(), text(), flag(), number<std::uint32_t>(),
                     number<std::uint64_t>(),
                     static_cast<std::uint32_t>(1 + below(kMostListedKeys))},
            BeginTrace{flag(), rule_set(), seal(), text(), flag(), flag(),
                       static_cast<std::uint32_t>(below(kMostTracedBytes + 1)), flag()},
            ReadTrace{number<std::uint64_t>(), number<std::uint64_t>()},
            EndTrace{number<std::uint64_t>(), number<std::uint64_t>()},
            CountOwed{number<std::uint64_t>(), text(), text(), number<std::uint64_t>(),
                      number<std::uint64_t>(), number<std::uint64_t>(), number<std::uint32_t>(),
                      number<std::uint64_t>()},
            ask_packet(),
            FindEarlyDrops{network(), static_cast<std::uint32_t>(1 + below(kMostEarlyDrops))},
            ReadHeatmap{number<std::uint64_t>(), number<std::uint64_t>(),
                        std::vector<std::string>(below(kMostLookedAt + 1), text())},
            ReadPreview{number<std::uint64_t>(), number<std::uint64_t>(),
                        static_cast<std::uint8_t>(below(64))}};
    }
    std::vector<Reply> replies() {
        return {Welcome{number<std::uint32_t>(), number<std::uint32_t>(), number<std::uint64_t>(),
                        rss_mapping(), treatment()},
                Applied{number<std::uint64_t>()},
                RunningRules{number<std::uint64_t>(), text(), text()},
                stats(),
                PanicSet{flag(), flag(), text()},
                Failure{text()},
                top(),
                key_state(),
                MergeIntervalSet{number<std::uint64_t>(), number<std::uint64_t>()},
                events(),
                key_page(),
                TraceBegun{number<std::uint64_t>(),
                           number<std::uint64_t>(),
                           number<std::uint32_t>(),
                           number<std::uint32_t>(),
                           {text(), text()}},
                traced_packets(),
                OwedKeys{number<std::uint64_t>(), number<std::int64_t>(), flag(),
                         number<std::uint32_t>(), number<std::uint64_t>()},
                packet_state(),
                early_drops(),
                heatmap_epochs(),
                previewed_packets()};
    }
    IpPrefix network() {
        IpPrefix network{below(2) == 0 ? IpVersion::V4 : IpVersion::V6, {}, 0};
        const std::size_t bits = network.version == IpVersion::V4 ? 32 : 128;
        network.length = static_cast<std::uint8_t>(below(bits + 1));
        for (std::size_t at = 0; at < bits / 8; ++at) {
            network.address.bytes[at] = static_cast<std::byte>(below(256));
        }
        network.address = masked(network.address, network.length);
        return network;
    }
    FoundEarlyDrops early_drops() {
        FoundEarlyDrops out{.state = static_cast<EarlyDropState>(below(4)), .more = flag()};
        const std::size_t ports = below(3);
        for (std::size_t i = 0; i < ports; ++i) {
            out.ports.push_back({text(), text(), text(), number<std::uint64_t>(),
                                 number<std::uint64_t>(), flag(), flag()});
        }
        for (std::size_t i = ports == 0 ? 0 : below(4); i > 0; --i) {
            out.entries.push_back({static_cast<std::uint32_t>(below(ports)), network(), text(),
                                   static_cast<EarlyDropSource>(below(5)), flag(),
                                   number<std::int64_t>(), number<std::uint64_t>()});
        }
        return out;
    }
    HeatmapEpochs heatmap_epochs() {
        HeatmapEpochs out{number<std::uint64_t>(), number<std::uint64_t>(), {}};
        for (std::size_t i = below(3); i > 0; --i) {
            HeatEpoch& epoch = out.epochs.emplace_back(HeatEpoch{number<std::uint64_t>(),
                                                                 number<std::uint64_t>(),
                                                                 number<std::int64_t>(),
                                                                 number<std::int64_t>(),
                                                                 number<std::uint32_t>(),
                                                                 number<std::uint64_t>(),
                                                                 {}});
            for (std::size_t limit = below(3); limit > 0; --limit) {
                epoch.limits.push_back({text(),
                                        number<std::uint32_t>(),
                                        static_cast<std::uint8_t>(below(64)),
                                        number<std::uint64_t>(),
                                        {},
                                        {}});
                fill(epoch.limits.back());
            }
        }
        return out;
    }
    void fill(HeatLimit& limit) {
        for (std::size_t i = below(4); i > 0; --i) {
            const std::uint64_t digest = random_() >> (64 - HeatSample::kDigestBits);
            limit.samples.push_back(
                {digest, number<std::uint32_t>(), number<std::uint32_t>(), number<std::uint8_t>()});
            limit.names.push_back({digest, text(), {}});
            for (std::size_t packet = below(3); packet > 0; --packet) {
                limit.names.back().packets.push_back({{{text(), text()}, {text(), text()}}});
            }
        }
    }
    KeyPage key_page() {
        KeyPage out{
            {}, flag(), number<std::uint32_t>(), number<std::uint64_t>(), number<std::uint64_t>()};
        for (std::size_t i = below(4); i > 0; --i) {
            out.keys.push_back({number<std::uint8_t>(), number<std::uint8_t>(), flag(), text(),
                                number<std::uint64_t>(), number<std::uint32_t>(), flag(), flag(),
                                number<std::uint8_t>(), flag(), number<std::uint64_t>(),
                                number<std::uint64_t>(), number<std::int64_t>(),
                                static_cast<KeyBan>(below(4))});
        }
        return out;
    }

    RuleSet rule_set() {
        RuleSet set;
        set.generation = number<std::uint64_t>();
        set.actions = actions();
        actions_ = set.actions.size();
        const std::size_t rules = below(5);
        for (std::size_t i = 0; i < rules; ++i) {
            set.rules.push_back(rule(i));
            const bool may_judge =
                set.rules[i].on_match == OnMatch::Meter && set.rules[i].mode == Mode::Monitor;
            const bool has_place = i > 0 && set.rules[i - 1].on_match == OnMatch::Meter;
            set.rules[i].candidate = may_judge && has_place && flag();
        }
        for (std::size_t i = 0; i < kMaxNamedTexts; ++i) {
            set.named_texts.push_back(text_name(i));
        }
        set.suffixes = std::make_shared<const std::vector<SuffixRule>>(suffixes());
        set.classifier = Classifier{test::RandomParts{random_(), 9}.make(rules)};
        set.origins = flag() ? origins() : nullptr;
        set.clients = flag() ? clients() : nullptr;
        add_services(set);
        for (std::size_t i = 0; i < rules && flag(); ++i) {
            set.owner_groups.push_back({key(), number<std::uint64_t>()});
        }
        add_schedules(set);
        for (Rule& rule : set.rules) {
            rule.schedule = static_cast<std::uint8_t>(below(set.schedules.size() + 1));
            rule.owner_group = static_cast<std::uint16_t>(
                rule.has_limits() ? below(set.owner_groups.size() + 1) : 0);
        }
        return set;
    }
    std::size_t below(std::size_t bound) { return random_() % bound; }

private:
    template <typename T>
    T number() {
        // All sizes of numbers, the ends of their range among them.
        constexpr auto kLast = static_cast<T>(~T{0});
        const auto value = static_cast<T>(random_() >> below(64));
        return below(8) == 0 ? kLast : value;
    }
    bool flag() { return below(2) == 1; }
    void add_schedules(RuleSet& set) {
        for (std::size_t i = below(3); i > 0; --i) {
            ZoneOffsets zone{.name = "Zone/" + std::to_string(i)};
            zone.first = static_cast<std::int32_t>(below(7200)) - 3600;
            for (std::size_t change = below(4); change > 0; --change) {
                const std::int64_t last = zone.changes.empty() ? -1 : zone.changes.back().at;
                zone.changes.push_back({last + 1 + static_cast<std::int64_t>(below(1'000'000)),
                                        static_cast<std::int32_t>(below(7200)) - 3600});
            }
            Schedule schedule{.zone = std::make_shared<const ZoneOffsets>(std::move(zone))};
            for (std::size_t range = below(4); range > 0; --range) {
                const std::uint32_t last = schedule.active.empty() ? 0 : schedule.active.back().end;
                const auto begin = last + 1 + static_cast<std::uint32_t>(below(100'000));
                schedule.active.push_back(
                    {begin, begin + 1 + static_cast<std::uint32_t>(below(50'000))});
            }
            set.schedules.push_back(std::move(schedule));
        }
    }
    std::string text() {
        std::string out(below(12), '\0');
        std::generate(out.begin(), out.end(), [this] { return static_cast<char>(random_()); });
        return out;
    }

    // Any text that a set can name at this place; each is there once.
    TextName text_name(std::size_t at) {
        constexpr auto kHosts = std::to_array(
            {TextField::HttpHost, TextField::TlsSni, TextField::QuicSni, TextField::DnsQname});
        if (at < kHosts.size() && flag()) {
            return {.kind = TextName::Kind::RegistrableDomain, .source = kHosts[at]};
        }
        if (flag()) {
            return {.kind = TextName::Kind::PathPrefix,
                    .source = TextField::HttpPath,
                    .segments = static_cast<std::uint8_t>(at + 1)};
        }
        return {flag() ? TextName::Kind::Header : TextName::Kind::Cookie, "n" + std::to_string(at)};
    }
    std::vector<SuffixRule> suffixes() {
        std::vector<SuffixRule> rules;
        for (std::size_t i = below(5); i > 0; --i) {
            rules.push_back({"s" + std::to_string(i), static_cast<std::uint8_t>(1 + below(7))});
        }
        return rules;
    }

    // Tags with every choice of their values, behind the two that every table has.
    std::vector<Action> actions() {
        std::vector<Action> out{kPass, kDrop};
        for (std::size_t i = below(5); i > 0; --i) {
            Action& tag = out.emplace_back(Action{.verdict = Verdict::Tag, .tag = {}});
            if (flag()) {
                tag.tag.dscp = static_cast<std::uint8_t>(below(64));
            }
            if (flag()) {
                tag.tag.pcp = static_cast<std::uint8_t>(below(8));
            }
        }
        return out;
    }
    ActionIndex action() { return static_cast<ActionIndex>(below(actions_)); }

    void cost_by_path(Rule& rule) {
        for (MeteredLimit& limit : rule.limits) {
            limit.per = Per::Request;
        }
        for (const std::string_view path : {"/", "/a", "/a/b", "/c"}) {
            rule.path_costs.push_back(
                {std::string{path}, static_cast<std::uint32_t>(1 + below(kMaxCost))});
        }
    }
    // Where a limit counts open connections, the rule charges each of them one.
    static void count_connections(Rule& rule) {
        for (MeteredLimit& limit : rule.limits) {
            if (algorithm_of(limit.limit) == Algorithm::Concurrency) {
                limit.per = Per::Connection;
                rule.cost = 1;
                rule.path_costs.clear();
                rule.rejected_spend = false;
            }
        }
    }
    // The same of different values of a field.
    void count_values(Rule& rule, MeteredLimit& limit) {
        limit.limit = *make_distinct(Units{1 + below(kMostDistinct)},
                                     std::chrono::seconds{1 + below(100'000)});
        limit.of = {KeyPart{static_cast<Field>(below(kFieldCount)),
                            static_cast<std::uint8_t>(below(33)),
                            static_cast<std::uint8_t>(below(129))}};
        limit.per = Per::Packet;
        rule.cost = 1;
        rule.path_costs.clear();
        rule.rejected_spend = false;
    }
    Rule rule(std::size_t index) {
        Rule out;
        out.id = "rule-" + std::to_string(index);
        out.mode = flag() ? Mode::Monitor : Mode::Enforce;
        out.on_match = static_cast<OnMatch>(below(2));
        out.missing_key = static_cast<MissingKey>(below(2));
        out.on_full = static_cast<OnFull>(below(2));
        out.match_action = action();
        out.on_exceed = action();
        const std::size_t limits = out.on_match == OnMatch::Meter ? 1 + below(3) : 0;
        for (std::size_t i = 0; i < limits; ++i) {
            if (i == 0 || flag()) {
                out.keys.push_back(key());
            }
            out.limits.push_back({.identity = (index << 8) + i,
                                  .name = text(),
                                  .key = static_cast<std::uint8_t>(out.keys.size() - 1),
                                  .per = static_cast<Per>(below(6)),
                                  .limit = numbers(),
                                  .scope = static_cast<LimitScope>(below(4)),
                                  .rss_mapping_at_ports = below(9)});
        }
        out.on_full = static_cast<OnFull>(below(3));
        out.coarsen_factor = static_cast<std::uint32_t>(2 + below(15));
        out.table_share = static_cast<std::uint32_t>((1 + below(100)) * (kWholeTable / 100));
        out.cost = static_cast<std::uint32_t>(1 + below(kMaxCost));
        if (below(4) == 0) {
            cost_by_path(out);
        }
        out.rejected_spend = flag();
        count_connections(out);
        if (!out.limits.empty() && below(4) == 0) {
            count_values(out, out.limits.front());
        }
        out.heatmap = flag() ? Heatmap::On : Heatmap::Off;
        out.events = EdgeEventSet{static_cast<std::uint8_t>(below(EdgeEventSet::kAll + 1U))};
        for (ActionIndex& of_color : out.on_color) {
            of_color = action();
        }
        if (!out.limits.empty() && flag()) {
            out.overrides = overrides(out);
        }
        if (!out.limits.empty() && flag()) {
            out.ban = ban(index, out.keys.size());
        }
        (void)fill_coarser(out);
        return out;
    }

    // With conditions that are sound over the fields that services may test.
    void add_services(RuleSet& set) {
        for (std::size_t i = below(5); i > 0; --i) {
            set.services.push_back(service(i));
        }
        ClassifierParts parts = test::RandomParts{random_(), 9}.make(set.services.size());
        parts.texts = {};
        std::erase_if(parts.dimensions, [](const DimensionParts& dimension) {
            return !is_service_field(dimension.field);
        });
        set.service_classifier = Classifier{std::move(parts)};
    }
    Service service(std::size_t index) {
        Service out;
        out.id = "service-" + std::to_string(index);
        out.protocol = static_cast<ServiceProtocol>(below(4));
        out.mode = flag() ? Mode::Monitor : Mode::Enforce;
        out.on_unreadable = static_cast<OnUnreadable>(below(3));
        out.checksums = static_cast<Checksums>(below(3));
        out.path = static_cast<ServicePath>(below(2));
        out.midstream = Midstream::Pass;
        if (may_upgrade(out.protocol)) {
            out.on_h2c = static_cast<OnH2c>(below(2));
            out.upgrades.websocket = flag();
            out.upgrades.connect = flag();
        }
        if (runs_over_tcp(out.protocol)) {
            out.midstream = static_cast<Midstream>(below(3));
            out.min_ttl = static_cast<std::uint8_t>(1 + below(255));
            for (std::size_t i = below(3); i > 0; --i) {
                IpAddress address;
                address.bytes[0] = static_cast<std::byte>(below(256));
                out.proxies.push_back({flag() ? IpVersion::V4 : IpVersion::V6, address,
                                       static_cast<std::uint8_t>(8 + below(25))});
            }
        }
        return out;
    }

    Ban ban(std::size_t rule, std::size_t keys) {
        Ban out{{.action = action()}, {}};
        for (std::size_t i = 0; i < keys; ++i) {
            out.boxes.push_back({.identity = (rule << 8) + 0x80 + i,
                                 .name = text(),
                                 .key = static_cast<std::uint8_t>(i),
                                 .limit = *make_penalty(Units{1 + below(1000)},
                                                        std::chrono::milliseconds{1 + below(1000)},
                                                        std::chrono::seconds{1 + below(1000)})});
        }
        return out;
    }

    GroupingKey key() {
        GroupingKey out;
        for (std::size_t i = below(3); i > 0; --i) {
            if (below(4) == 0) {
                out.push_back({.text = static_cast<TextField>(below(kTextFieldCount - 1)),
                               .lower = below(2) == 0,
                               .room = static_cast<std::uint8_t>(16 + below(100))});
                continue;
            }
            KeyPart& part = out.emplace_back(KeyPart{static_cast<Field>(below(kFieldCount)),
                                                     static_cast<std::uint8_t>(below(33)),
                                                     static_cast<std::uint8_t>(below(129))});
            if (part.field == Field::ClientIp) {
                part.unwrapping = Unwrapping{static_cast<std::uint8_t>(below(4))};
            }
        }
        return out;
    }

    Limit bucket() {
        return *Limit::make({Units{1 + below(1'000'000)}, std::chrono::seconds{60}},
                            Units{1 + below(100'000)});
    }
    WindowNumbers window() {
        return *make_window_numbers(Units{1 + below(1'000'000)},
                                    std::chrono::milliseconds{1 + below(100'000)});
    }
    AnyLimit numbers() {
        // A penalty is none of a limit, and different values are those of a field: distinct().
        switch (below(kAlgorithmCount - 2)) {
            case 0:
                return TokenBucketLimit{bucket()};
            case 1:
                return LeakyBucketLimit{bucket()};
            case 2:
                return *make_fixed_window(
                    window(), WindowPhase::Clock,
                    std::chrono::minutes{below(1000)} - std::chrono::minutes{500});
            case 3:
                return SlidingWindowLimit{window(),
                                          flag() ? WindowClock::Utc : WindowClock::Instants};
            case 4:
                return *make_sliding_counters(window(), static_cast<std::uint32_t>(1 + below(100)),
                                              flag() ? Edge::Strict : Edge::Lenient);
            case 5:
                return SlidingLogLimit{window()};
            case 7:
                return *make_day_window(
                    *make_window_numbers(Units{1 + below(1'000'000)}, std::chrono::hours{24}),
                    KeptZone::keep({.name = "Zone/" + std::to_string(below(3)),
                                    .first = 3600,
                                    .changes = {{1000, 0}, {2000, 3600}}}));
            case 6:
                return ConcurrencyLimit{window(), 1,
                                        flag() ? CountedFrom::Syn : CountedFrom::Established};
            default:
                return *ColorLimit::make(ColorVariant::Rfc4115,
                                         flag() ? ColorMode::Aware : ColorMode::Blind, bucket(),
                                         bucket());
        }
    }

    AskedFrame asked_frame() {
        return {std::vector<std::byte>(below(100)), number<std::uint32_t>(),
                static_cast<Direction>(below(2)), number<std::uint64_t>()};
    }
    AskPacket ask_packet() {
        AskPacket out{number<std::uint64_t>(), text(), {}, asked_frame()};
        for (std::size_t i = below(3); i > 0; --i) {
            out.before.push_back(asked_frame());
        }
        return out;
    }
    DecisionState decision_state() {
        return {static_cast<Verdict>(below(static_cast<std::size_t>(Verdict::Drop) + 1)),
                static_cast<Reason>(below(kReasonCount)),
                number<std::uint32_t>(),
                number<std::uint8_t>(),
                number<std::uint16_t>(),
                number<std::int64_t>()};
    }
    PacketState packet_state() {
        PacketState out{number<std::uint32_t>(), flag(), flag(), flag(), decision_state()};
        for (std::size_t i = below(3); i > 0; --i) {
            out.units.push_back(decision_state());
            out.limits.push_back({number<std::uint32_t>(), number<std::uint8_t>(),
                                  number<std::uint8_t>(), flag(), flag(), flag(), flag(), flag(),
                                  number<std::uint8_t>(), number<std::uint64_t>(),
                                  number<std::uint64_t>(), number<std::int64_t>()});
            out.bans.push_back({number<std::uint32_t>(), number<std::uint8_t>(),
                                number<std::uint8_t>(), number<std::uint64_t>(),
                                number<std::uint64_t>(), number<std::int64_t>()});
        }
        return out;
    }
    KeyState key_state() {
        KeyState out;
        for (std::size_t i = below(3); i > 0; --i) {
            out.limits.push_back(text());
            out.workers.push_back({number<std::uint32_t>(),
                                   flag(),
                                   flag(),
                                   flag(),
                                   flag(),
                                   number<std::uint64_t>(),
                                   number<std::uint64_t>(),
                                   static_cast<std::int64_t>(number<std::uint64_t>()),
                                   flag(),
                                   number<std::uint8_t>(),
                                   {}});
            for (std::size_t j = below(3); j > 0; --j) {
                out.workers.back().limits.push_back(
                    {number<std::uint8_t>(), flag(), flag(), number<std::uint64_t>(),
                     number<std::uint64_t>(), number<std::uint8_t>(), number<std::uint64_t>(),
                     number<std::uint64_t>(), number<std::uint64_t>(),
                     static_cast<std::int64_t>(number<std::uint64_t>())});
            }
        }
        return out;
    }
    std::shared_ptr<const Overrides> overrides(const Rule& rule) {
        auto all = std::make_shared<Overrides>();
        const std::size_t limit = below(rule.limits.size());
        if (algorithm_of(rule.limits[limit].limit) != Algorithm::ColorMeter) {
            all->numbers.push_back({static_cast<std::uint8_t>(limit),
                                    Nanoseconds{static_cast<std::int64_t>(random_())},
                                    rule.limits[limit].limit});
        }
        all->plans.push_back({flag(), Nanoseconds{static_cast<std::int64_t>(random_())}, flag(),
                              Nanoseconds{static_cast<std::int64_t>(random_())}, 0,
                              static_cast<std::uint32_t>(all->numbers.size())});
        all->keys.resize(rule.keys.size());
        for (KeyOverrides& keys : all->keys) {
            for (std::size_t i = below(4); i > 0; --i) {
                keys.bytes.resize(keys.bytes.size() + below(20), std::byte{7});
                keys.rows.push_back({static_cast<std::uint32_t>(keys.bytes.size()), 0});
            }
        }
        add_network(rule, *all);
        return all;
    }
    // Of one address: 10.0.0.0/8, which is banned.
    void add_network(const Rule& rule, Overrides& all) {
        const auto key = std::find_if(rule.keys.begin(), rule.keys.end(), [](const auto& one) {
            return one.size() == 1 && one.front().is_address();
        });
        if (key == rule.keys.end() || !flag()) {
            return;
        }
        all.networks.resize(rule.keys.size());
        KeyOverrides& networks = all.networks[static_cast<std::size_t>(key - rule.keys.begin())];
        const auto plan = static_cast<std::uint32_t>(all.plans.size());
        all.plans.push_back({.banned = true});
        for (const unsigned byte : {unsigned(key->front().field), 4U, 8U, 4U, 10U, 0U, 0U, 0U}) {
            networks.bytes.push_back(static_cast<std::byte>(byte));
        }
        networks.rows.push_back({static_cast<std::uint32_t>(networks.bytes.size()), plan});
    }
    std::shared_ptr<const ClientSource> clients() {
        auto source = std::make_shared<ClientSource>();
        source->proxies.steps = {{0, 0}, {1 + below(1000), 1}};
        source->proxies.v6_steps = {{0, 1}, {Wide{1 + below(1000)} << below(100), 0}};
        source->header = "x-client-" + std::to_string(below(9));
        source->hops = static_cast<std::uint8_t>(1 + below(kMostClientHops));
        return source;
    }
    std::shared_ptr<const GeoParts> origins() {
        auto parts = std::make_shared<GeoParts>();
        parts->asked.add(flag() ? Field::IpSrcCountry : Field::IpDstAsn);
        if (flag()) {
            parts->asked.add(Field::IpDstCountry);
        }
        parts->steps = {{0, 0}};
        parts->v6_steps = {{0, 0}};
        parts->origins = {{0, 0}};
        for (std::uint32_t i = 1; i <= below(4); ++i) {
            parts->origins.push_back({number<std::uint32_t>(), i});
            const auto row = static_cast<std::uint32_t>(below(i + 1));
            parts->steps.push_back({i * 0x1000'0000ULL + below(1000), row});
            parts->v6_steps.push_back({Wide{i} << 120 | number<std::uint32_t>(), row});
        }
        return parts;
    }

    Nanoseconds time() { return Nanoseconds{static_cast<std::int64_t>(random_() >> 1)}; }
    PacketTreatment treatment() {
        return {
            .malformed = static_cast<MalformedPolicy>(below(2)),
            .tunnels = {.gre = flag(),
                        .vxlan = flag(),
                        .ipip = flag(),
                        .geneve = flag(),
                        .gtpu = flag(),
                        .others = {{{number<std::uint16_t>(), static_cast<UdpTunnel>(below(3))}}}},
            .units = {.connections = {.max = number<std::uint64_t>(),
                                      .head_bytes = number<std::uint64_t>(),
                                      .timeout = time(),
                                      .when_full = static_cast<FullConnections>(below(2))},
                      .fragments = {.policy = static_cast<FragmentPolicy>(below(2)),
                                    .table = number<std::uint64_t>(),
                                    .timeout = time()},
                      .on_ambiguous = static_cast<OnAmbiguous>(below(2)),
                      .quic_initials_percent = number<std::uint64_t>()}};
    }
    RssMapping rss_mapping() {
        RssMapping out{.ports = {},
                       .tunnels = flag(),
                       .workers = number<std::uint32_t>(),
                       .merge_interval = Nanoseconds{static_cast<std::int64_t>(random_() >> 1)}};
        for (std::size_t i = below(4); i > 0; --i) {
            out.ports.push_back({.pair = text(),
                                 .dir = static_cast<Direction>(below(2)),
                                 .by = static_cast<PortRssMapping::By>(below(4)),
                                 .rss = static_cast<Rss>(below(kRssNames.size())),
                                 .way = number<std::uint64_t>()});
        }
        return out;
    }
    PortStats port() {
        PortStats out{.pair = text(),
                      .side = text(),
                      .device = text(),
                      .driver = text(),
                      .link_up = flag(),
                      .held_down = flag(),
                      .gone = flag(),
                      .times_gone = number<std::uint64_t>(),
                      .mtu = number<std::uint16_t>(),
                      .set_mtu = number<std::uint16_t>(),
                      .rx_queues = number<std::uint16_t>(),
                      .tx_queues = number<std::uint16_t>(),
                      .rss = flag(),
                      .asked = text(),
                      .hashes = text(),
                      .handed_over = flag()};
        for (auto* counter :
             {&out.rx_packets, &out.rx_bytes, &out.tx_packets, &out.tx_bytes, &out.rx_missed,
              &out.rx_no_mbuf, &out.rx_errors, &out.tx_errors, &out.tx_full}) {
            *counter = number<std::uint64_t>();
        }
        out.kernel = kernel();
        return out;
    }
    KernelPortStats kernel() {
        return {.attached = flag(),
                .native = flag(),
                .fail_open = flag(),
                .program = number<std::uint32_t>(),
                .heartbeat_ns = number<std::uint64_t>(),
                .beat_age_ns = number<std::uint64_t>(),
                .bridged_packets = number<std::uint64_t>(),
                .bridged_bytes = number<std::uint64_t>(),
                .dropped_packets = number<std::uint64_t>(),
                .dropped_bytes = number<std::uint64_t>(),
                .early_capacity = number<std::uint64_t>(),
                .early_networks = number<std::uint64_t>(),
                .early_left_out = number<std::uint64_t>(),
                .managed_packets = number<std::uint64_t>(),
                .managed_refused = number<std::uint64_t>()};
    }
    // Every number that a row of the struct names.
    template <typename Stats>
    Stats counts() {
        Stats out;
        for_each_stat_row<Stats>([&]<typename Row>(const Row& row) {
            if constexpr (kIsArrayRow<Row>) {
                std::generate((out.*row.member).begin(), (out.*row.member).end(),
                              [this] { return number<std::uint64_t>(); });
            } else {
                out.*row.member = number<std::uint64_t>();
            }
        });
        return out;
    }
    WorkerStats worker() {
        WorkerStats out;
        out.lcore = number<std::uint32_t>();
        for (auto* counter : {&out.bursts, &out.stalled_ms, &out.stalls, &out.table_slots,
                              &out.table_entries, &out.table_evictions, &out.handed_over}) {
            *counter = number<std::uint64_t>();
        }
        std::generate(out.by_verdict.begin(), out.by_verdict.end(),
                      [this] { return number<std::uint64_t>(); });
        std::generate(out.bytes_by_verdict.begin(), out.bytes_by_verdict.end(),
                      [this] { return number<std::uint64_t>(); });
        std::generate(out.by_reason.begin(), out.by_reason.end(),
                      [this] { return number<std::uint64_t>(); });
        std::generate(out.by_table_event.begin(), out.by_table_event.end(),
                      [this] { return number<std::uint64_t>(); });
        std::generate(out.by_unit_event.begin(), out.by_unit_event.end(),
                      [this] { return number<std::uint64_t>(); });
        std::generate(out.by_answer_event.begin(), out.by_answer_event.end(),
                      [this] { return number<std::uint64_t>(); });
        out.connections = counts<ConnectionStats>();
        out.asks = counts<AskStats>();
        out.shaping = {.held = number<std::uint64_t>(), .room = number<std::uint64_t>()};
        std::generate(out.stages.cycles.begin(), out.stages.cycles.end(),
                      [this] { return number<std::uint64_t>(); });
        out.stages.packets = number<std::uint64_t>();
        out.stages.turns = number<std::uint64_t>();
        out.stages.cycles_per_second = number<std::uint64_t>();
        for (std::size_t i = below(3); i > 0; --i) {
            out.lanes.push_back(text());
        }
        return out;
    }
    DatabaseSeal seal() {
        return {number<std::uint64_t>(), number<std::uint64_t>(), number<std::uint64_t>(),
                number<std::uint64_t>()};
    }

    Stats stats() {
        Stats out;
        out.generation = number<std::uint64_t>();
        out.uptime_ns = number<std::uint64_t>();
        out.panic = flag();
        out.merge_interval_ns = number<std::uint64_t>();
        out.state.survives = flag();
        out.state.rules = static_cast<KeptRules>(below(kKeptRulesNames.size()));
        out.state.has_snapshots = flag();
        for (std::uint64_t* count : {&out.clock.set_back,
                                     &out.clock.set_back_ns,
                                     &out.clock.set_ahead,
                                     &out.clock.instants_left_ns,
                                     &out.state.kept,
                                     &out.state.mended,
                                     &out.state.unknown,
                                     &out.state.damaged,
                                     &out.state.former_tables,
                                     &out.state.former_debts,
                                     &out.state.moved_debts,
                                     &out.state.put_aside,
                                     &out.state.not_kept,
                                     &out.state.snapshots.done,
                                     &out.state.snapshots.failed,
                                     &out.state.snapshots.latest.bytes,
                                     &out.state.snapshots.latest.age_ns,
                                     &out.control.strangers,
                                     &out.control.full,
                                     &out.control.idle,
                                     &out.control.uploads,
                                     &out.control.memory,
                                     &out.control.unsealed,
                                     &out.control.unkept}) {
            *count = number<std::uint64_t>();
        }
        out.heatmaps = counts<HeatStats>();
        std::generate(out.events.by_kind.begin(), out.events.by_kind.end(),
                      [this] { return number<std::uint64_t>(); });
        for (std::size_t i = below(4); i > 0; --i) {
            out.rules.push_back({.id = text(),
                                 .counts = counts<RuleCounts>(),
                                 .overshoot = counts<OvershootStats>(),
                                 .entries = number<std::uint64_t>()});
            for (std::size_t limits = below(3); limits > 0; --limits) {
                out.rules.back().limits.push_back(
                    {text(), number<std::uint64_t>(), number<std::uint64_t>()});
            }
            out.ports.push_back(port());
            out.workers.push_back(worker());
            out.services.push_back({text(), static_cast<ChecksumTrust>(below(4)),
                                    static_cast<ChecksumTrust>(below(4))});
        }
        return out;
    }

    Events events() {
        Events out{number<std::uint64_t>(), number<std::uint64_t>(), number<std::uint64_t>(), {}};
        for (std::size_t i = below(4); i > 0; --i) {
            out.events.push_back(
                {number<std::uint64_t>(), static_cast<KeyEventKind>(below(kKeyEventKindCount)),
                 static_cast<std::int64_t>(random_()), static_cast<std::int64_t>(random_()),
                 number<std::uint32_t>(), number<std::uint64_t>(), number<std::uint64_t>(), text(),
                 text(), text()});
        }
        return out;
    }
    TracedPackets traced_packets() {
        TracedPackets out{flag(), flag(), flag(), flag(), number<std::uint64_t>(), {}};
        for (std::size_t i = below(4); i > 0; --i) {
            TracedPacket packet{.utc_ns = static_cast<std::int64_t>(random_()),
                                .lcore = number<std::uint32_t>(),
                                .pair = text(),
                                .dir = static_cast<Direction>(below(2)),
                                .verdict = static_cast<Verdict>(below(kVerdictCount)),
                                .reason = static_cast<Reason>(below(kReasonCount)),
                                .rule = text(),
                                .key = text(),
                                .limit = text(),
                                .wait_ns = static_cast<std::int64_t>(random_()),
                                .matched = {text(), text()},
                                .matched_count = number<std::uint32_t>(),
                                .service = text(),
                                .would_refuse = flag(),
                                .why_would_refuse = static_cast<Reason>(below(kReasonCount)),
                                .has_ip = flag(),
                                .has_ports = flag(),
                                .is_v6 = flag(),
                                .proto = number<std::uint8_t>(),
                                .sport = number<std::uint16_t>(),
                                .dport = number<std::uint16_t>(),
                                .wire_size = number<std::uint32_t>(),
                                .frame = std::vector<std::byte>(below(kMostTracedBytes + 1))};
            packet.src.bytes.fill(static_cast<std::byte>(random_()));
            packet.dst.bytes.fill(static_cast<std::byte>(random_()));
            out.packets.push_back(std::move(packet));
        }
        return out;
    }
    PreviewAmounts amounts() {
        return {number<std::uint64_t>(), number<std::uint64_t>(), number<std::uint64_t>(),
                number<std::uint64_t>()};
    }
    PreviewedPackets previewed_packets() {
        PreviewedPackets out{flag(),
                             flag(),
                             flag(),
                             number<std::uint64_t>(),
                             static_cast<std::uint8_t>(below(64)),
                             amounts(),
                             number<std::uint64_t>(),
                             number<std::uint64_t>(),
                             number<std::uint64_t>(),
                             {},
                             {}};
        for (std::size_t i = below(4); i > 0; --i) {
            out.records.push_back({static_cast<std::int64_t>(random_()),
                                   {number<std::uint64_t>(), number<std::uint64_t>()},
                                   amounts()});
            out.keys.push_back({number<std::uint64_t>(), text()});
        }
        return out;
    }
    Top top() {
        Top out{number<std::uint64_t>(), number<std::uint64_t>(), number<std::uint64_t>(), {}};
        for (std::size_t i = below(4); i > 0; --i) {
            out.keys.push_back({text(), text(), number<std::uint64_t>(), number<std::uint64_t>(),
                                number<std::uint64_t>(), number<std::uint64_t>(),
                                number<std::uint64_t>(), number<std::uint64_t>(),
                                number<std::uint64_t>(),
                                flag() ? std::optional{number<std::uint64_t>()} : std::nullopt});
        }
        return out;
    }

    std::mt19937_64 random_;
    std::size_t actions_ = 2;  // of the rule set that is being made
};

}  // namespace sluice
