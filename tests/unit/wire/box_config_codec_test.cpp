#include "lib/wire/box_config_codec.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace sluice::box_config_codec_test {
namespace {

using namespace std::chrono_literals;

ClusterOptions cluster_example() {
    const ClusterTls tls{.ca_file = "a", .cert_file = "b", .key_file = "c", .server_name = "d"};
    return {.name = "fra",
            .node = "scrub-1",
            .size = 3,
            .secret_file = "/s",
            .sync = 50ms,
            .durability = Durability::Replica,
            .store = ClusterStore{.addresses = {{"192.0.2.1", 7000}, {"2001:db8::1", 7001}},
                                  .sentinel = "main",
                                  .cluster_mode = false,
                                  .budget = 1000,
                                  .user = "u",
                                  .password_file = "/p",
                                  .tls = tls},
            .etcd = ClusterEtcd{.addresses = {{"e.example.net", 2379}},
                                .user = "v",
                                .password_file = "/q",
                                .tls = tls}};
}

// Every field is another than its default.
BoxConfig example() {
    return {
        .pairs = {{.name = "lab",
                   .outside = {"0000:3b:00.0", 4, Rss::FiveTuple},
                   .inside = {"net_tap0,iface=a", 2, Rss::SourcePrefix},
                   .mtu = 9000,
                   .link_follow = false,
                   .hand_over = false},
                  {.name = "more", .outside = {"a"}, .inside = {"b"}}},
        .lcores = "2@1,3@1",
        .watchdog_stall = 250ms,
        .idle_sleep = 50us,
        .merge_interval = 500us,
        .huge_pages = HugePages::Required,
        .mbufs = 262'144,
        .table_keys = 4'000'000,
        .state_dir = "/s",
        .snapshot_file = "/f",
        .snapshot_every = 3s,
        .malformed = MalformedPolicy::Pass,
        .tunnels = {.gre = true,
                    .ipip = true,
                    .gtpu = true,
                    .others = {{{8472, UdpTunnel::Vxlan}}}},
        .units = {.connections = {.max = 2'000'000,
                                  .head_bytes = 8192,
                                  .timeout = 5s,
                                  .when_full = FullConnections::Drop},
                  .fragments = {.policy = FragmentPolicy::Judge, .table = 128'000, .timeout = 20s},
                  .quic_initials_percent = 35},
        .control = {"/c", 0600, "o", "g"},
        .dataplane = {"/d", 0400, "p", "h"},
        .rules = "rules.yaml",
        .on_no_rules = OnNoRules::Drop,
        .kernel = KernelOptions{.fail = KernelFail::Closed,
                                .mode = KernelMode::Generic,
                                .heartbeat = 20ms,
                                .pins = "/q",
                                .early_drop = 9},
        .management = ManagementOptions{.allow = {{6, 22}}, .to = {{IpVersion::V4, {}}}, .rate = 7},
        .cluster = cluster_example(),
        .log_level = LogLevel::Debug,
        .log_format = LogFormat::Journal};
}

void expect_refused(const std::vector<std::byte>& bytes, std::string_view says) {
    const Result<BoxConfig> box = decode_box_config(bytes);
    ASSERT_FALSE(box.has_value()) << says;
    EXPECT_NE(box.error().what.find(says), std::string::npos) << box.error().what;
}

void expect_same(const SocketOptions& got, const SocketOptions& want) {
    EXPECT_EQ(got.path, want.path);
    EXPECT_EQ(got.mode, want.mode);
    EXPECT_EQ(got.owner, want.owner);
    EXPECT_EQ(got.group, want.group);
}

TEST(BoxConfigCodec, GivesBackEveryField) {
    const Result<BoxConfig> got = decode_box_config(encode(example()));
    ASSERT_TRUE(got.has_value()) << got.error().what;
    ASSERT_EQ(got->pairs.size(), 2U);
    const PairConfig& pair = got->pairs[0];
    EXPECT_EQ(pair.name, "lab");
    EXPECT_EQ(pair.outside.device, "0000:3b:00.0");
    EXPECT_EQ(pair.outside.queues, 4U);
    EXPECT_EQ(pair.outside.rss, Rss::FiveTuple);
    EXPECT_EQ(pair.inside.device, "net_tap0,iface=a");
    EXPECT_EQ(pair.inside.queues, 2U);
    EXPECT_EQ(pair.inside.rss, Rss::SourcePrefix);
    EXPECT_EQ(pair.mtu, 9000);
    EXPECT_FALSE(pair.link_follow || pair.hand_over);
    EXPECT_EQ(got->pairs[1].mtu, std::nullopt);
    EXPECT_EQ(got->pairs[1].inside.queues, std::nullopt);
    EXPECT_TRUE(got->pairs[1].link_follow && got->pairs[1].hand_over);
    EXPECT_EQ(got->lcores, "2@1,3@1");
    EXPECT_EQ(got->watchdog_stall, 250ms);
    EXPECT_EQ(got->idle_sleep, 50us);
    ASSERT_TRUE(got->kernel.has_value());
    EXPECT_EQ(got->kernel->fail, KernelFail::Closed);
    EXPECT_EQ(got->kernel->mode, KernelMode::Generic);
    EXPECT_EQ(got->kernel->heartbeat, 20ms);
    EXPECT_EQ(got->kernel->pins, "/q");
    EXPECT_EQ(got->kernel->early_drop, 9U);
    EXPECT_EQ(got->management, example().management);
    EXPECT_EQ(got->merge_interval, 500us);
    EXPECT_EQ(got->huge_pages, HugePages::Required);
    EXPECT_EQ(got->mbufs, 262'144U);
    EXPECT_EQ(got->table_keys, 4'000'000U);
    EXPECT_EQ(got->state_dir, "/s");
    EXPECT_EQ(got->snapshot_file, "/f");
    EXPECT_EQ(got->snapshot_every, 3s);
    EXPECT_EQ(got->malformed, MalformedPolicy::Pass);
    EXPECT_EQ(got->tunnels, example().tunnels);
    EXPECT_EQ(got->units.connections.max, 2'000'000U);
    EXPECT_EQ(got->units.connections.head_bytes, 8192U);
    EXPECT_EQ(got->units.connections.timeout, 5s);
    EXPECT_EQ(got->units.connections.when_full, FullConnections::Drop);
    EXPECT_EQ(got->units.fragments.policy, FragmentPolicy::Judge);
    EXPECT_EQ(got->units.fragments.table, 128'000U);
    EXPECT_EQ(got->units.fragments.timeout, 20s);
    EXPECT_EQ(got->units.quic_initials_percent, 35U);
    expect_same(got->control, example().control);
    expect_same(got->dataplane, example().dataplane);
    EXPECT_EQ(got->rules, "rules.yaml");
    ASSERT_TRUE(got->cluster && got->cluster->store && got->cluster->etcd);
    EXPECT_EQ(got->cluster->size, 3);
    EXPECT_EQ(got->cluster->durability, Durability::Replica);
    EXPECT_EQ(got->cluster->store->addresses, example().cluster->store->addresses);
    EXPECT_EQ(got->cluster->store->tls->server_name, "d");
    EXPECT_EQ(got->cluster->etcd->addresses, example().cluster->etcd->addresses);
    EXPECT_EQ(got->on_no_rules, OnNoRules::Drop);
    EXPECT_EQ(got->log_level, LogLevel::Debug);
    EXPECT_EQ(got->log_format, LogFormat::Journal);
    EXPECT_EQ(encode(*got), encode(example()));
}

TEST(BoxConfigCodec, RefusesEveryCutAndEveryByteMore) {
    std::vector<std::byte> bytes = encode(example());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        expect_refused({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)},
                       "cut off");
    }
    bytes.push_back(std::byte{0});
    expect_refused(bytes, "cut off");
}

TEST(BoxConfigCodec, RefusesAnotherVersion) {
    std::vector<std::byte> bytes = encode(example());
    bytes[0] = std::byte{kBoxConfigVersion + 1};
    expect_refused(bytes, "of version 10, and this reads version 9");
}

TEST(BoxConfigCodec, RefusesWhatIsNotSound) {
    BoxConfig box = example();
    box.pairs[0].mtu = 67;
    expect_refused(encode(box), "not sound: ports.mtu is from 68");
    box = example();
    box.dataplane.mode = 01000;
    expect_refused(encode(box), "not sound: the mode");
    box = example();
    box.cluster->size = 65;
    expect_refused(encode(box), "not sound: cluster.size is from 2 to 64");
    box = example();
    box.cluster->store->addresses.clear();
    expect_refused(encode(box), "not sound: `store` needs `addresses`");
}

// A word of an enum beyond its last, each where only it differs from a message that is sound.
TEST(BoxConfigCodec, RefusesWordsThatAreNone) {
    struct Row {
        std::string_view name;
        void (*spoil)(BoxConfig&);
    };
    const Row rows[] = {
        {"rss", [](BoxConfig& b) { b.pairs[0].outside.rss = static_cast<Rss>(5); }},
        {"hugepages", [](BoxConfig& b) { b.huge_pages = static_cast<HugePages>(3); }},
        {"malformed", [](BoxConfig& b) { b.malformed = static_cast<MalformedPolicy>(2); }},
        {"when_full",
         [](BoxConfig& b) { b.units.connections.when_full = static_cast<FullConnections>(2); }},
        {"policy", [](BoxConfig& b) { b.units.fragments.policy = static_cast<FragmentPolicy>(2); }},
        {"on_ambiguous", [](BoxConfig& b) { b.units.on_ambiguous = static_cast<OnAmbiguous>(3); }},
        {"on_no_rules", [](BoxConfig& b) { b.on_no_rules = static_cast<OnNoRules>(3); }},
        {"durability", [](BoxConfig& b) { b.cluster->durability = static_cast<Durability>(2); }},
        {"level", [](BoxConfig& b) { b.log_level = static_cast<LogLevel>(4); }},
        {"format", [](BoxConfig& b) { b.log_format = static_cast<LogFormat>(3); }},
    };
    for (const Row& row : rows) {
        BoxConfig box = example();
        row.spoil(box);
        EXPECT_FALSE(decode_box_config(encode(box)).has_value()) << row.name;
    }
}

TEST(BoxConfigCodec, TakesNoMoreThanASoundMessageCanHave) {
    BoxConfig box = example();
    const std::string longest(kMostConfigText, 'x');
    box.pairs.clear();
    for (std::size_t i = 0; i < kMostPairs; ++i) {
        const auto text = [&](char side) {
            std::string own = longest;
            own[0] = static_cast<char>('a' + i);
            own[1] = side;
            return own;
        };
        box.pairs.push_back({.name = text('n'), .outside = {text('o')}, .inside = {text('i')}});
    }
    box.lcores = box.state_dir = box.snapshot_file = box.rules = longest;
    box.cluster->secret_file = box.cluster->store->password_file = longest;
    box.control = box.dataplane = {longest, 0600, longest, longest};
    EXPECT_TRUE(decode_box_config(encode(box)).has_value());
    expect_refused(std::vector<std::byte>(kMaxBoxConfigSize + 1), "larger than 1 MiB");
    // Four thousand million pairs, promised by twelve bytes.
    std::vector<std::byte> promised(12, std::byte{0xff});
    std::memcpy(promised.data(), &kBoxConfigVersion, sizeof(kBoxConfigVersion));
    expect_refused(promised, "cut off");
}

}  // namespace
}  // namespace sluice::box_config_codec_test
