#include "lib/policy/box/box.hpp"
#include "lib/rules/kernel_pairs.hpp"

#include "tests/unit/policy/wrong_text.hpp"

#include <gtest/gtest.h>

namespace sluice::box_test {
namespace {

using namespace std::chrono_literals;

struct Outcome {
    std::optional<BoxConfig> box;
    std::vector<Problem> problems;
};

Outcome read(std::string_view text, Purpose purpose = Purpose::Enforce) {
    Problems problems{"b"};
    std::optional<BoxConfig> box = read_box({"b", text}, purpose, problems);
    return {std::move(box), problems.list()};
}

constexpr std::string_view kWhole = R"yaml(version: 1
ports:
  - name: uplink
    outside: {device: "0000:3b:00.0", queues: auto, rss: five_tuple}
    inside: {device: "net_tap0,iface=a", queues: 4, rss: destination}
    mtu: 9000
    link_follow: false
    hand_over: false
  - name: lab
    outside: {device: a}
    inside: {device: b}
workers: {lcores: "2@1,3@1", watchdog: {stall: 250ms, action: report}, idle_sleep: 50us}
memory:
  hugepages: none
  mbufs: 256k
  tables: {keys: 4M, state_dir: /x, snapshot: {file: /y, every: 3s}}
packets:
  malformed: pass
  tunnels: [gre, ipip, gtpu, "vxlan:8472", geneve:7000]
  connections: {max: 2M, head_bytes: 8KiB, timeout: 5s, when_full: drop}
  http: {on_ambiguous: both}
  quic_initials: {budget: 35%}
  fragments: {policy: judge, table: 128k, timeout: 20s}
sockets:
  control: {path: /a.sock, mode: "0600", owner: o, group: g}
  dataplane: {path: /b.sock}
rules: rules.yaml
on_no_rules: drop
kernel: {fail: closed, mode: generic, heartbeat: 20ms, pins: /p, early_drop: 64k}
management: {allow: [tcp/22, udp/161, icmp], to: [192.0.2.10, "2001:db8::10"], rate: 500/s}
log: {level: debug, format: json}
)yaml";

TEST(ReadBox, KeepsEverythingTheFileSays) {
    const Outcome outcome = read(kWhole);
    ASSERT_TRUE(outcome.box.has_value());
    EXPECT_EQ(outcome.problems.size(), 3U) << "of `kernel`, which has nothing to do here";
    const BoxConfig& box = *outcome.box;
    ASSERT_TRUE(box.kernel.has_value());
    EXPECT_EQ(box.kernel->fail, KernelFail::Closed);
    EXPECT_EQ(box.kernel->mode, KernelMode::Generic);
    EXPECT_EQ(box.kernel->heartbeat, 20ms);
    EXPECT_EQ(box.kernel->pins, "/p");
    EXPECT_EQ(box.kernel->early_drop, 64'000U);
    EXPECT_EQ(
        box.management,
        (ManagementOptions{.allow = {{6, 22}, {17, 161}, {1, 0}, {58, 0}},
                           .to = {*parse_address("192.0.2.10"), *parse_address("2001:db8::10")},
                           .rate = 500}));
    ASSERT_EQ(box.pairs.size(), 2U);
    EXPECT_EQ(box.pairs[0].name, "uplink");
    EXPECT_EQ(box.pairs[0].outside.device, "0000:3b:00.0");
    EXPECT_EQ(box.pairs[0].outside.queues, std::nullopt);
    EXPECT_EQ(box.pairs[0].outside.rss, Rss::FiveTuple);
    EXPECT_EQ(box.pairs[0].inside.device, "net_tap0,iface=a");
    EXPECT_EQ(box.pairs[0].inside.queues, 4U);
    EXPECT_EQ(box.pairs[0].inside.rss, Rss::Destination);
    EXPECT_EQ(box.pairs[0].mtu, 9000);
    EXPECT_FALSE(box.pairs[0].link_follow);
    EXPECT_FALSE(box.pairs[0].hand_over);
    EXPECT_EQ(box.pairs[1].mtu, std::nullopt);
    EXPECT_TRUE(box.pairs[1].link_follow);
    EXPECT_TRUE(box.pairs[1].hand_over);
    EXPECT_EQ(box.pairs[1].inside.rss, Rss::Destination) << "the mirror of source";
    EXPECT_EQ(box.lcores, "2@1,3@1");
    EXPECT_EQ(box.watchdog_stall, 250ms);
    EXPECT_EQ(box.idle_sleep, 50us);
    EXPECT_EQ(box.huge_pages, HugePages::None);
    EXPECT_EQ(box.mbufs, 256'000U);
    EXPECT_EQ(box.table_keys, 4'000'000U);
    EXPECT_EQ(box.state_dir, "/x");
    EXPECT_EQ(box.snapshot_file, "/y");
    EXPECT_EQ(box.snapshot_every, std::chrono::seconds{3});
    EXPECT_EQ(box.malformed, MalformedPolicy::Pass);
    EXPECT_TRUE(box.tunnels.gre);
    EXPECT_FALSE(box.tunnels.vxlan);
    EXPECT_TRUE(box.tunnels.ipip);
    EXPECT_TRUE(box.tunnels.gtpu);
    EXPECT_FALSE(box.tunnels.geneve);
    EXPECT_EQ(box.tunnels.others[0], (TunnelPort{8472, UdpTunnel::Vxlan}));
    EXPECT_EQ(box.tunnels.others[1], (TunnelPort{7000, UdpTunnel::Geneve}));
    EXPECT_EQ(box.tunnels.others[2], TunnelPort{});
    EXPECT_EQ(box.units.connections.max, 2'000'000U);
    EXPECT_EQ(box.units.connections.head_bytes, 8192U);
    EXPECT_EQ(box.units.connections.timeout, 5s);
    EXPECT_EQ(box.units.connections.when_full, FullConnections::Drop);
    EXPECT_EQ(box.units.on_ambiguous, OnAmbiguous::Both);
    EXPECT_EQ(box.units.quic_initials_percent, 35U);
    EXPECT_EQ(box.units.fragments.policy, FragmentPolicy::Judge);
    EXPECT_EQ(box.units.fragments.table, 128'000U);
    EXPECT_EQ(box.units.fragments.timeout, 20s);
    EXPECT_EQ(box.control.path, "/a.sock");
    EXPECT_EQ(box.control.mode, 0600U);
    EXPECT_EQ(box.control.owner, "o");
    EXPECT_EQ(box.control.group, "g");
    EXPECT_EQ(box.dataplane.path, "/b.sock");
    EXPECT_EQ(box.dataplane.mode, 0600U);
    EXPECT_EQ(box.rules, "rules.yaml");
    EXPECT_EQ(box.on_no_rules, OnNoRules::Drop);
    EXPECT_EQ(box.log_level, LogLevel::Debug);
    EXPECT_EQ(box.log_format, LogFormat::JsonLines);
}

TEST(ReadBox, TheInsideMirrorsTheOutsideUnlessItSaysOtherwise) {
    const auto inside_of = [](const std::string& outside, const std::string& inside) {
        const std::string text = "version: 1\nports: [{name: p, outside: {device: a" + outside +
                                 "}, inside: {device: b" + inside + "}}]\n";
        Problems problems{"b"};
        return read_box({"b", text}, Purpose::Enforce, problems).value().pairs.front().inside.rss;
    };
    EXPECT_EQ(inside_of("", ""), Rss::Destination);
    EXPECT_EQ(inside_of(", rss: source", ""), Rss::Destination);
    EXPECT_EQ(inside_of(", rss: destination", ""), Rss::Source);
    EXPECT_EQ(inside_of(", rss: symmetric", ""), Rss::Symmetric);
    EXPECT_EQ(inside_of(", rss: five_tuple", ""), Rss::Source) << "it has no mirror";
    EXPECT_EQ(inside_of(", rss: source_prefix", ""), Rss::Source);
    EXPECT_EQ(inside_of("", ", rss: source"), Rss::Source);
}

TEST(ReadBox, TheStrictestReadingDecidesUnderBothWords) {
    for (const char* const word : {"both", "stricter"}) {
        const Outcome outcome =
            read(std::string{"version: 1\npackets: {http: {on_ambiguous: "} + word + "}}\n");
        ASSERT_TRUE(outcome.box.has_value()) << word;
        EXPECT_EQ(outcome.box->units.on_ambiguous, OnAmbiguous::Both) << word;
    }
}

TEST(ReadBox, DefaultsNeedOnlyAVersion) {
    const Outcome outcome = read("version: 1\n");
    ASSERT_TRUE(outcome.box.has_value());
    EXPECT_TRUE(outcome.box->pairs.empty());
    EXPECT_EQ(outcome.box->malformed, MalformedPolicy::Drop);
    EXPECT_EQ(outcome.box->on_no_rules, OnNoRules::LastGood);
    EXPECT_EQ(read("version: 1\non_no_rules: pass\n").box->on_no_rules, OnNoRules::Pass);
    EXPECT_EQ(outcome.box->watchdog_stall, 1s);
    EXPECT_EQ(outcome.box->lcores, "");
    EXPECT_EQ(read("version: 1\nworkers: {lcores: auto}\n").box->lcores, "");
    EXPECT_EQ(outcome.box->merge_interval, 1ms);
    EXPECT_EQ(read("version: 1\nmerge: {interval: 250us}\n").box->merge_interval, 250us);
}

#define HEAD "version: 1\n"
#define CLUSTER "cluster: {name: fra, node: b, size: 3, secret_file: s"
#define PAIR HEAD "ports:\n  - name: a\n    outside: {device: x}\n"

const test::WrongText kWrong[] = {
    {"ports: []\n", 1, 1, "version: 1"},
    {"version: \"1\"\n", 1, 10, "version: 1"},
    {HEAD "prots: []\n", 2, 1, "did you mean `ports`?"},
    {HEAD "ports: {}\n", 2, 8, "list of pairs"},
    {HEAD "on_no_rules: last\n", 2, 14, "last_good"},
    {HEAD "ports: [a]\n", 2, 9, "must be a map"},
    {PAIR, 3, 5, "needs `inside`"},
    {PAIR "    inside: y\n", 5, 13, "must be a map"},
    {PAIR "    inside: {}\n", 5, 13, "needs a `device`"},
    {PAIR "    inside: {device: x}\n", 5, 22, "another place already"},
    {HEAD "ports:\n  - name: a\n    outside: {device: \"net_af_packet0,iface=o\"}\n"
          "    inside: {device: \"net_af_packet0,iface=i\"}\n",
     5, 22, "a name of its own before the comma"},
    {HEAD "ports:\n  - name: a\n    outside: {device: \"net_af_packet0,iface=o\"}\n"
          "    inside: {device: \"net_af_xdp1,iface=o\"}\n",
     5, 22, "the interface `o` is a port already"},
    {PAIR "    inside: {device: y, queues: 0}\n", 5, 33, "at least 1"},
    {PAIR "    inside: {device: y, queues: 65}\n", 5, 33, "largest, 64"},
    {PAIR "    inside: {device: y, queues: \"four\"}\n", 5, 33, "is not a decimal number"},
    {PAIR "    inside: {device: y, rss: sauce}\n", 5, 30, "did you mean `source`?"},
    {PAIR "    inside: {device: y}\n    hand_over: 1\n", 6, 16, "true or false"},
    {PAIR "    inside: {device: y}\n    mtu: 67\n", 6, 10, "68"},
    {PAIR "    inside: {device: y}\n    mtu: 9k\n", 6, 10, "digits alone, without a unit"},
    {PAIR "    inside: {device: y}\n    mtu: 65536\n", 6, 10, "largest, 65535"},
    {PAIR "    inside: {device: y}\n    link_follow: yes\n", 6, 18, "true or false"},
    {PAIR "    inside: {device: y}\n  - name: a\n    outside: {device: z}\n"
          "    inside: {device: w}\n",
     6, 5, "`name` of its own"},
    {HEAD "workers: {lcores: [1, 2]}\n", 2, 19, "must be a text"},
    {HEAD "workers: {watchdog: {stall: 1}}\n", 2, 29, "such as 1s"},
    {HEAD "workers: {watchdog: {stall: \"1 s\"}}\n", 2, 29, "such as 1s"},
    {HEAD "workers: {watchdog: {stall: 1us}}\n", 2, 29, "at least 1ms"},
    {HEAD "workers: {watchdog: {stall: 61m}}\n", 2, 29, "at most 1h"},
    {HEAD "workers: {idle_sleep: 101ms}\n", 2, 23, "at most 100ms"},
    {HEAD "memory: {mbufs: 511}\n", 2, 17, "from 512 to"},
    {HEAD "memory: {tables: {state_dir: \"\\0\"}}\n", 2, 30, "control characters"},
    {HEAD "workers: {watchdog: {action: restart}}\n", 2, 30, "report"},
    {HEAD "memory: {hugepages: always}\n", 2, 21, "auto, required, none"},
    {HEAD "memory: {mbufs: 256Ki}\n", 2, 17, "256k"},
    {HEAD "memory: {mbufs: 0}\n", 2, 17, "256k"},
    {HEAD "memory: {mbufs: 5G}\n", 2, 17, "256k"},
    {HEAD "memory: {tables: {keys: 010}}\n", 2, 25, "`010`"},
    {HEAD "memory: {tables: {snapshot: {every: 10s}}}\n", 2, 29, "needs a `file`"},
    {HEAD "memory: {tables: {snapshot: {file: /x, every: 10}}}\n", 2, 47, "such as 10s"},
    {HEAD "memory: {tables: {snapshot: {file: /x, every: 1ms}}}\n", 2, 47, "from 100ms"},
    {HEAD "memory: {tables: {snapshot: {fiel: /x}}}\n", 2, 30, "did you mean `file`?"},
    {HEAD "kernel: {fail: opened}\n", 2, 16, "did you mean `open`?"},
    {HEAD "kernel: {mode: skb}\n", 2, 16, "one of auto, native, generic"},
    {HEAD "kernel: {heartbeat: 4ms}\n", 2, 21, "from 5ms to 1m"},
    {HEAD "kernel: {heartbeat: 100}\n", 2, 21, "from 5ms to 1m"},
    {HEAD "kernel: {pins: bpf}\n", 2, 16, "path from the root"},
    {HEAD "kernel: {early_drop: 2M}\n", 2, 22, "from 1 to 1048576"},
    {HEAD "management: {allow: [tcp], to: [192.0.2.1]}\n", 2, 22, "tcp/22"},
    {HEAD "management: {allow: [tcp/0], to: [192.0.2.1]}\n", 2, 22, "tcp/22"},
    {HEAD "management: {allow: [icmp], to: [192.0.2.0/24]}\n", 2, 34, "addresses of the box"},
    {HEAD "management: {allow: [icmp]}\n", 2, 13, "addresses of the box"},
    {HEAD "management: {allow: [icmp], to: [192.0.2.1], rate: 0/s}\n", 2, 52, "from 1/s"},
    {HEAD "kernel: open\n", 2, 9, "must be a map"},
    {HEAD "workers: {idle_sleep: 30ms}\nkernel: {heartbeat: 100ms}\n", 3, 21, "four times"},
    {HEAD "packets: {malformed: keep}\n", 2, 22, "drop, pass"},
    {HEAD "packets: {tunnels: gre}\n", 2, 20, "list of gre"},
    {HEAD "packets: {tunnels: [gre, vxlam]}\n", 2, 26, "did you mean `vxlan`?"},
    {HEAD "packets: {tunnels: [vxlan:0]}\n", 2, 21, "from 1 to 65535, as in `vxlan:8472`"},
    {HEAD "packets: {tunnels: [geneve:65536]}\n", 2, 21, "from 1 to 65535"},
    {HEAD "packets: {tunnels: [gre:47]}\n", 2, 21, "gre has no port: it is not over UDP"},
    {HEAD "packets: {tunnels: [ipip, ipip]}\n", 2, 27, "ipip is named twice"},
    {HEAD "packets: {tunnels: [vxlan, vxlan:4789]}\n", 2, 28, "port 4789 of vxlan is named twice"},
    {HEAD "packets: {tunnels: [vxlan:9, vxlan:9]}\n", 2, 30, "port 9 of vxlan is named twice"},
    {HEAD "packets: {tunnels: [vxlan, geneve:4789]}\n", 2, 28,
     "port 4789 cannot be that of vxlan and of geneve"},
    {HEAD "packets: {tunnels: [{vxlan: 8472}]}\n", 2, 21, "without a blank, such as vxlan:8472"},
    {HEAD "packets: {tunnels: [vxlan:1, vxlan:2, vxlan:3, vxlan:4, gtpu:5, gtpu:6, gtpu:7, gtpu:8, "
          "gtpu:9]}\n",
     2, 89, "at most 8 ports beside the registered ones"},
    {HEAD "packets: {fragments: {policy: folow_first}}\n", 2, 31, "did you mean `follow_first`?"},
    {HEAD "packets: {fragments: {table: 1000}}\n", 2, 30, "from 1024 to 67108864"},
    {HEAD "packets: {fragments: {table: 64Ki}}\n", 2, 30, "256k"},
    {HEAD "packets: {fragments: {timeout: 11m}}\n", 2, 32, "from 100ms to 10m"},
    {HEAD "packets: {fragments: follow_first}\n", 2, 22, "must be a map"},
    {HEAD "packets: {connections: {max: 0}}\n", 2, 30, "from 1024 to 67108864"},
    {HEAD "packets: {connections: {max: 100M}}\n", 2, 30, "from 1024 to 67108864"},
    {HEAD "packets: {connections: {max: \"1m\"}}\n", 2, 30, "256k"},
    {HEAD "packets: {connections: {most: 1M}}\n", 2, 25, "unknown key `most`"},
    {HEAD "packets: {connections: {head_bytes: 16000}}\n", 2, 37, "16KiB"},
    {HEAD "packets: {connections: {head_bytes: 64KiB}}\n", 2, 37, "from 256 to 60000 bytes"},
    {HEAD "packets: {connections: {head_bytes: [1]}}\n", 2, 37, "16KiB"},
    {HEAD "packets: {connections: {timeout: 10}}\n", 2, 34, "from 100ms to 10m"},
    {HEAD "packets: {connections: {when_full: refuse}}\n", 2, 36, "evict, drop"},
    {HEAD "packets: {http: {on_ambiguous: refused}}\n", 2, 32, "did you mean `refuse`?"},
    {HEAD "packets: {http: {on_ambiguous: strict}}\n", 2, 32, "did you mean `stricter`?"},
    {HEAD "packets: {quic_initials: {budget: 0%}}\n", 2, 35, "such as 25%"},
    {HEAD "packets: {quic_initials: {budget: 20}}\n", 2, 35, "such as 25%"},
    {HEAD "packets: {quic_initials: 20%}\n", 2, 26, "must be a map"},
    {HEAD "sockets: {control: {mode: 0660}}\n", 2, 27, "quoted"},
    {HEAD "sockets: {control: {mode: \"0668\"}}\n", 2, 27, "octal"},
    {HEAD "sockets: {control: {mode: \"1777\"}}\n", 2, 27, "octal"},
    {HEAD "sockets: {control: {mode: \"\"}}\n", 2, 27, "octal"},
    {HEAD "sockets: {contol: {}}\n", 2, 11, "did you mean `control`?"},
    {HEAD "log: {level: verbose}\n", 2, 14, "debug, info, warn, error"},
    {HEAD "api: {listen: 127.0.0.1:1}\n", 2, 6, "needs a `token_file`"},
    {HEAD "api: {token_file: t}\n", 2, 6, "such as \"127.0.0.1:8480\""},
    {HEAD "api: {listen: 127.0.0.1, token_file: t}\n", 2, 15, "an address and a port"},
    {HEAD "api: {listen: \"localhost:1\", token_file: t}\n", 2, 15, "an address and a port"},
    {HEAD "api: {listen: \"::1:80\", token_file: t}\n", 2, 15, "\"[::1]:8480\""},
    {HEAD "api: {listen: \"[127.0.0.1]:80\", token_file: t}\n", 2, 15, "an address and a port"},
    {HEAD "api: {listen: \"127.0.0.1:0\", token_file: t}\n", 2, 15, "an address and a port"},
    {HEAD "api: {listen: \"127.0.0.1:65536\", token_file: t}\n", 2, 15, "an address and a port"},
    {HEAD "api: {listen: \"127.0.0.1:80x\", token_file: t}\n", 2, 15, "an address and a port"},
    {HEAD "api: {listen: \"127.0.0.1:80\", token_fil: t}\n", 2, 31, "did you mean `token_file`?"},
    {HEAD "web: {}\n", 2, 6, "the path of a Unix socket"},
    {HEAD "web: {listen: 8480}\n", 2, 15, "an address and a port"},
    {HEAD "web: {listen: \"0.0.0.0:80\"}\n", 2, 15, "speaks no TLS"},
    {HEAD "web: {listen: \"192.0.2.1:80\", behind_proxy: [{user: root}]}\n", 2, 15,
     "speaks no TLS"},
    {HEAD "web: {listen: \"[::]:80\"}\n", 2, 15, "speaks no TLS"},
    {HEAD "web: {listen: /run/sluice/sluiced.sock}\n", 2, 15, "a path of its own"},
    {HEAD "web: {listen: /a, host: [b]}\n", 2, 19, "did you mean `hosts`?"},
    {HEAD "web: {listen: /a, hosts: b}\n", 2, 26, "a list of at most 32"},
    {HEAD "web: {listen: /a, hosts: [\"b:80\"]}\n", 2, 27, "without a port"},
    {HEAD "web: {listen: /a, hosts: [\"https://b\"]}\n", 2, 27, "without a port"},
    {HEAD "web: {listen: /a, user_header: \"a b\"}\n", 2, 32, "letters, digits and `-`"},
    {HEAD "web: {listen: /a, user_header: HOST}\n", 2, 32, "a meaning of its own"},
    {HEAD "web: {listen: /a, role_header: x-sluice-USER}\n", 2, 32, "another header"},
    {HEAD "web: {listen: /a, behind_proxy: [{}]}\n", 2, 34, "a proxy is {user: NAME}"},
    {HEAD "web: {listen: /a, behind_proxy: [{user: b, address: 192.0.2.1}]}\n", 2, 34,
     "a proxy is {user: NAME}"},
    {HEAD "web: {listen: /a, behind_proxy: [{user: b, secret_file: s}]}\n", 2, 34,
     "by its `user` alone"},
    {HEAD "web: {listen: \"127.0.0.1:1\", behind_proxy: [{user: b}]}\n", 2, 44,
     "at a Unix socket alone"},
    {HEAD "web: {listen: \"127.0.0.1:1\", behind_proxy: [{address: 192.0.2.0/24}]}\n", 2, 55,
     "one address"},
    {HEAD "web: {listen: \"127.0.0.1:1\", behind_proxy: [{address: 192.0.2.1}]}\n", 2, 45,
     "needs a `secret_file`"},
    {HEAD "web: {listen: \"127.0.0.1:1\", behind_proxy: [{address: 192.0.2.1, secret_file: s}]}\n",
     2, 45, "`secret_header` is the name"},
    {HEAD
     "web: {listen: /a, behind_proxy: [{address: 192.0.2.1, secret_file: s, secret_header: X}]}\n",
     2, 33, "has no `address` at a Unix socket"},
    {HEAD "notify: [ops]\n", 2, 9, "`notify` is a map of webhooks"},
    {HEAD "notify: {Ops: {url: \"https://h/\", secret_file: s}}\n", 2, 10, "lower-case letters"},
    {HEAD "notify: {ops: {secret_file: s}}\n", 2, 15, "begins with https:// or http://"},
    {HEAD "notify: {ops: {url: \"ftp://h/\", secret_file: s}}\n", 2, 21, "begins with https://"},
    {HEAD "notify: {ops: {url: \"https:///x\", secret_file: s}}\n", 2, 21, "names no host"},
    {HEAD "notify: {ops: {url: \"https://u:p@h/\", secret_file: s}}\n", 2, 21, "no user and no"},
    {HEAD "notify: {ops: {url: \"https://h/ x\", secret_file: s}}\n", 2, 21, "and no space"},
    {HEAD "notify: {ops: {url: \"https://h/\"}}\n", 2, 15, "needs a `secret_file`"},
    {HEAD "notify: {ops: {url: \"https://h:99999/x\", secret_file: s}}\n", 2, 21,
     "from 1 to 65535"},
    {HEAD "notify: {ops: {url: \"https://h:0/\", secret_file: s}}\n", 2, 21, "from 1 to 65535"},
    {HEAD "notify: {ops: {url: \"https://h:80x/\", secret_file: s}}\n", 2, 21, "from 1 to 65535"},
    {HEAD "notify: {ops: {url: \"https://h:/\", secret_file: s}}\n", 2, 21, "from 1 to 65535"},
    {HEAD "notify: {ops: {url: \"https://[::1/\", secret_file: s}}\n", 2, 21, "from 1 to 65535"},
    {HEAD "notify: {ops: {url: \"http://169.254.169.254/latest\", secret_file: s}}\n", 2, 21,
     "link-local"},
    {HEAD "notify: {ops: {url: \"https://[fe80::1]:8443/\", secret_file: s}}\n", 2, 21,
     "link-local"},
    {HEAD "notify: {ops: {url: \"https://[fd00:ec2::254]/\", secret_file: s}}\n", 2, 21,
     "link-local"},
    {HEAD "notify: {ops: {url: \"https://[::ffff:169.254.1.1]/\", secret_file: s}}\n", 2, 21,
     "link-local"},
    {HEAD "notify: {ops: {url: \"http://localhost/\", secret_file: s, ca_file: c}}\n", 2, 67,
     "an http:// webhook shows none"},
    {HEAD "notify: {ops: {url: \"https://h/\", secret_fil: s}}\n", 2, 35,
     "did you mean `secret_file`?"},
    {HEAD "api: 127.0.0.1:80\n", 2, 6, "must be a map"},
    {HEAD "merge: {intervall: 1ms}\n", 2, 9, "did you mean `interval`?"},
    {HEAD "merge: {interval: 1}\n", 2, 19, "such as 1ms"},
    {HEAD "merge: {interval: 2s}\n", 2, 19, "from 10us to 1s"},
    {HEAD "merge: {interval: 5us}\n", 2, 19, "from 10us to 1s"},
    {HEAD "merge: 1ms\n", 2, 8, "must be a map"},
    {HEAD "cluster: {store: {adresses: [a]}}\n", 2, 19, "did you mean `addresses`?"},
    {HEAD "cluster: redis\n", 2, 10, "must be a map"},
    {HEAD "discovery: {type: etcd}\n", 2, 1, "`cluster:` has `store` and `etcd`"},
    {HEAD "cluster_sync: {interval: 1s}\n", 2, 1, "`cluster:` has `sync`"},
    {HEAD "cluster: {discovery: {type: etcd}}\n", 2, 11, "where boxes find each other"},
    {HEAD "cluster: {node: a}\n", 2, 10, "`name` of `cluster` has 1 to 64 small letters"},
    {HEAD "cluster: {name: A}\n", 2, 17, "`name` of `cluster` has 1 to 64 small letters"},
    {HEAD "cluster: {name: a}\n", 2, 10, "`node` of `cluster`"},
    {HEAD "cluster: {name: a, node: b, size: 1}\n", 2, 35, "from 2 to 64"},
    {HEAD "cluster: {name: a, node: b, size: 65}\n", 2, 35, "64"},
    {HEAD "cluster: {name: a, node: b}\n", 2, 10, "needs a `size` from 2 to 64"},
    {HEAD "cluster: {name: a, node: b, size: 3}\n", 2, 10, "needs a `secret_file`"},
    {HEAD "cluster: {sync: 11s}\n", 2, 17, "from 1ms to 10s"},
    {HEAD "cluster: {durability: disk}\n", 2, 23, "`durability` is one of memory, replica"},
    {HEAD CLUSTER ", store: {}}\n", 2, 63, "`store` needs `addresses`"},
    {HEAD CLUSTER ", store: {addresses: a}}\n", 2, 75, "`addresses` is a list of 1 to 16"},
    {HEAD CLUSTER ", store: {addresses: [a]}}\n", 2, 76, "a host and a port"},
    {HEAD CLUSTER ", store: {addresses: [\"::1:1\"]}}\n", 2, 76, "a host and a port"},
    {HEAD CLUSTER ", store: {addresses: [\"a:0\"]}}\n", 2, 76, "a host and a port"},
    {HEAD CLUSTER ", store: {addresses: [\"[a]:1\"]}}\n", 2, 76, "a host and a port"},
    {HEAD CLUSTER ", store: {addresses: [\"rediss://a:1\"]}}\n", 2, 76, "has no scheme"},
    {HEAD CLUSTER ", store: {addresses: [\"a:1\"], budget: 0/s}}\n", 2, 92, "a rate from 1/s"},
    {HEAD CLUSTER ", store: {addresses: [\"a:1\"], user: u}}\n", 2, 63,
     "`user` of `store` needs a `password_file`"},
    {HEAD CLUSTER ", store: {addresses: [\"a:1\"], sentinel: m, cluster_mode: true}}\n", 2, 63,
     "needs no sentinels"},
    {HEAD CLUSTER ", store: {addresses: [\"a:1\"], tls: {key_file: k}}}\n", 2, 63,
     "`cert_file` and `key_file`, or neither"},
    {HEAD CLUSTER ", etcd: {addresses: [\"a:1\"], user: u}}\n", 2, 62, "or neither"},
};

TEST(ReadBox, EveryErrorSaysWhereAndWhat) {
    test::expect_errors(kWrong, [](std::string_view text) {
        const Outcome outcome = read(text);
        return std::pair{outcome.box.has_value(), outcome.problems};
    });
}

TEST(ReadBox, TheApiByTcp) {
    const Outcome outcome = read(
        "version: 1\napi: {listen: \"[2001:db8::1]:8480\", token_file: token, read_only: false}\n");
    ASSERT_TRUE(outcome.box.has_value());
    ASSERT_TRUE(outcome.box->api.has_value());
    EXPECT_EQ(to_text(outcome.box->api->address.version, outcome.box->api->address.address),
              "2001:db8::1");
    EXPECT_EQ(outcome.box->api->port, 8480);
    EXPECT_EQ(outcome.box->api->token_file, "token");
    EXPECT_FALSE(outcome.box->api->read_only);
}

TEST(ReadBox, KernelWarnsOfWhatItDoesNothingFor) {
    constexpr std::string_view kPairs =
        "version: 1\n"
        "ports:\n"
        "  - name: both\n"
        "    outside: {device: net_af_xdp0}\n"
        "    inside: {device: net_af_xdp1}\n"
        "  - name: one\n"
        "    outside: {device: net_af_xdp2}\n"
        "    inside: {device: net_af_packet0}\n";
    const std::string kernel = std::string{kPairs} + "kernel: {fail: open, early_drop: 64k}\n";
    const Outcome warned = read(kernel);
    ASSERT_TRUE(warned.box.has_value());
    ASSERT_EQ(warned.problems.size(), 1U);
    EXPECT_EQ(warned.problems[0].severity, Severity::Warning);
    EXPECT_EQ(warned.problems[0].at.line, 9U);
    EXPECT_EQ(warned.problems[0].message,
              "pair one ends with the process: `kernel` is for pairs of two net_af_xdp ports");
    for (const char* packets : {"packets: {tunnels: [gre]}\n", "packets: {malformed: pass}\n"}) {
        const Outcome seen = read(kernel + packets);
        ASSERT_EQ(seen.problems.size(), 2U) << packets;
        EXPECT_EQ(seen.problems[0].message, kNoEarlyDropText);
    }
    EXPECT_TRUE(read(kPairs).problems.empty());
}

TEST(ReadBox, TheCluster) {
    const Outcome outcome = read(
        HEAD CLUSTER
        ", sync: 50ms, durability: replica,\n"
        "  store: {addresses: [\"192.0.2.1:7000\", \"[2001:db8::1]:7001\", redis.example.net:1],\n"
        "    budget: 1000/s, user: box, password_file: /p, tls: {ca_file: c, server_name: d}},\n"
        "  etcd: {addresses: [\"http://127.0.0.1:2379\"]}}\n");
    ASSERT_TRUE(outcome.box && outcome.box->cluster);
    ClusterOptions cluster = *outcome.box->cluster;
    EXPECT_EQ(cluster.name + cluster.node + cluster.secret_file, "frabs");
    EXPECT_EQ(cluster.size, 3);
    EXPECT_EQ(cluster.sync, 50ms);
    EXPECT_EQ(cluster.durability, Durability::Replica);
    ASSERT_TRUE(cluster.store && cluster.etcd && cluster.store->tls);
    EXPECT_EQ(cluster.store->addresses,
              (std::vector<ServerAddress>{
                  {"192.0.2.1", 7000}, {"2001:db8::1", 7001}, {"redis.example.net", 1}}));
    EXPECT_EQ(cluster.store->budget, 1000U);
    EXPECT_EQ(cluster.etcd->addresses, (std::vector<ServerAddress>{{"127.0.0.1", 2379}}));
    EXPECT_FALSE(cluster.etcd->tls);
    resolve_files("/etc/sluice/sluice.yaml", cluster);
    EXPECT_EQ(cluster.secret_file, "/etc/sluice/s");
    EXPECT_EQ(cluster.store->password_file, "/p");
    EXPECT_EQ(cluster.store->tls->ca_file, "/etc/sluice/c");
    EXPECT_EQ(cluster.store->tls->cert_file, "");
    const Outcome usual = read(HEAD CLUSTER "}\n");
    ASSERT_TRUE(usual.box && usual.box->cluster);
    EXPECT_EQ(usual.box->cluster->sync, 100ms);
    EXPECT_FALSE(usual.box->cluster->store || usual.box->cluster->etcd);
    EXPECT_FALSE(read(HEAD).box->cluster);
}

TEST(ReadBox, TheDashboard) {
    const Outcome by_tcp = read(HEAD
                                "web: {listen: \"0.0.0.0:8480\", hosts: [Sluice.Example.net], "
                                "tokens_file: t, behind_proxy: [{address: 192.0.2.1, secret_file: "
                                "s, secret_header: X-Key}], user_header: U, role_header: R}\n");
    ASSERT_TRUE(by_tcp.box && by_tcp.box->web) << "an address of others, for proxies alone";
    const WebOptions& web = *by_tcp.box->web;
    EXPECT_EQ(web.port, 8480);
    EXPECT_EQ(web.hosts, std::vector<std::string>{"sluice.example.net"});
    EXPECT_EQ(web.tokens_file, "t");
    ASSERT_EQ(web.behind_proxy.size(), 1U);
    EXPECT_EQ(web.behind_proxy[0].address, parse_address("192.0.2.1"));
    EXPECT_EQ(web.behind_proxy[0].secret_header, "X-Key");
    EXPECT_EQ(web.user_header + web.role_header, "UR");
    const Outcome by_socket = read(HEAD "web: {listen: /a, behind_proxy: [{user: b}]}\n");
    ASSERT_TRUE(by_socket.box && by_socket.box->web);
    EXPECT_EQ(by_socket.box->web->path, "/a");
    EXPECT_EQ(by_socket.box->web->user_header, "X-Sluice-User");
    EXPECT_FALSE(read(HEAD).box->web) << "off until asked for";
    for (const char* const own : {"127.0.0.1:1", "127.1.2.3:1", "[::1]:1"}) {
        EXPECT_TRUE(read(HEAD "web: {listen: \"" + std::string{own} + "\"}\n").box) << own;
    }
}

TEST(ReadBox, Tenants) {
    const Outcome outcome = read(HEAD
                                 "tenants:\n- {name: acme, networks: [198.51.100.0/24, "
                                 "\"2001:db8::/48\"], table_share: 10%, rules: 8, text: 2KiB, "
                                 "compile_time: 20ms}\n- {name: b, networks: [203.0.113.1], "
                                 "table_share: 90%}\n");
    ASSERT_TRUE(outcome.box.has_value());
    ASSERT_EQ(outcome.box->tenants.size(), 2U);
    const TenantOptions& acme = outcome.box->tenants[0];
    EXPECT_EQ(acme.name, "acme");
    EXPECT_EQ(acme.networks,
              (std::vector{*parse_prefix("198.51.100.0/24"), *parse_prefix("2001:db8::/48")}));
    EXPECT_EQ(acme.table_share, 10U);
    EXPECT_EQ(acme.rules, 8U);
    EXPECT_EQ(acme.text, 2048U);
    EXPECT_EQ(acme.compile_time, 20ms);
    const std::string one = "{name: a, networks: [192.0.2.0/24], table_share: 60%}";
    const std::pair<std::string, std::string_view> kWrongTenants[] = {
        {"{}", "list"},
        {"[{networks: [192.0.2.0/24], table_share: 1%}]", "small letter"},
        {"[{name: 'a:b', networks: [192.0.2.0/24], table_share: 1%}]", "small letter"},
        {"[{name: ../a, networks: [192.0.2.0/24], table_share: 1%}]", "small letter"},
        {"[{name: a, table_share: 1%}]", "`networks`"},
        {"[{name: a, networks: [], table_share: 1%}]", "1 to 1024"},
        {"[{name: a, networks: [192.0.2.1/24], table_share: 1%}]", "host bits"},
        {"[{name: a, networks: [192.0.2.0/24]}]", "`table_share`"},
        {"[" + one + ", " + one + "]", "two tenants"},
        {"[" + one + ", {name: b, networks: [192.0.2.128/25], table_share: 1%}]", "overlaps"},
        {"[{name: a, networks: [192.0.2.0/24, 192.0.2.7], table_share: 1%}]", "overlaps"},
        {"[" + one + ", {name: b, networks: [10.0.0.0/8], table_share: 50%}]", "110%"},
    };
    for (const auto& [text, part] : kWrongTenants) {
        const Outcome wrong = read(HEAD "tenants: " + text + "\n");
        EXPECT_FALSE(wrong.box) << text;
        ASSERT_FALSE(wrong.problems.empty()) << text;
        EXPECT_NE(wrong.problems[0].message.find(part), std::string::npos)
            << text << ": " << wrong.problems[0].message;
    }
}

}  // namespace
}  // namespace sluice::box_test

#undef HEAD
#undef CLUSTER
#undef PAIR
