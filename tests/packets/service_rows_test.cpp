#include "lib/l7/stream/service_rows.hpp"

#include "lib/packet/parse_columns.hpp"
#include "lib/policy/compile.hpp"
#include "lib/wire/codec.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/list_files.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace sluice::test::service_rows_test {
namespace {

constexpr std::string_view kFile = R"yaml(version: 1
data: {lists: {proxies: {type: cidr, file: proxies.txt}}}
services:
  - {id: off, protocol: http, when: l4.dport eq 80, mode: off}
  - {id: shop, protocol: http, when: "ip.dst eq 192.0.2.1 and l4.dport in {80 8080}",
     proxy_protocol: {from: $proxies}}
  - {id: web, protocol: http, when: dir eq "in" and l4.dport eq 80}
  - {id: tls, protocol: tls, when: l4.dport eq 443}
  - {id: h3, protocol: quic, when: l4.dport eq 443}
  - {id: dns, protocol: dns, when: l4.dport eq 53}
  - {id: v6, protocol: http, when: ip.version eq 6 and vlan.id eq 7}
rules: []
)yaml";

// The rule set as the workers have it: over the wire.
RuleSet arrived(const CompiledRules& compiled) {
    const auto request = decode_request(encode(Request{ApplyRules{compiled.set, "", "", {}}}));
    return std::get<ApplyRules>(*request).rules;
}

class Services : public testing::Test {
protected:
    Services() {
        const ListReader lists =
            lists_of({{"proxies.txt",
                       "10.0.0.0/8\n10.0.0.7\n11.0.0.0/9\n255.255.255.255\n2001:db8::/32\n"}});
        Problems problems{"r"};
        const auto compiled = compile_rules({.file = "r", .text = kFile, .lists = &lists},
                                            Purpose::Check, {}, problems);
        set_ = arrived(compiled.value());
        services_ = loaded_services(set_.services, set_.service_classifier);
    }

    std::vector<std::string> found(const std::vector<Frame>& burst) {
        static HeaderColumns columns;
        static RuleMatches scratch;
        std::vector<std::vector<std::byte>> bytes;
        FrameColumns frames;
        for (const Frame& frame : burst) {
            bytes.push_back(frame.bytes());
            frames.add(bytes.back(), static_cast<std::uint32_t>(bytes.back().size()));
        }
        columns.set_ingress(Direction::In, 0);
        parse_columns(frames, {}, columns);
        ServiceRows rows;
        const RowMask with_service =
            find_services(columns, columns.well_formed(), services_, scratch, rows);
        std::vector<std::string> ids;
        for (std::size_t row = 0; row < kMaxBurst; ++row) {
            EXPECT_EQ(has_row(with_service, row), rows[row] != kNoService) << row;
            if (row < burst.size()) {
                ids.push_back(rows[row] == kNoService ? "" : services_.all[rows[row]].id);
            }
        }
        return ids;
    }

    RuleSet set_;
    LoadedServices services_;
};

TEST_F(Services, AreFoundByRowAndTheFirstWins) {
    EXPECT_EQ(
        found({tcp().dst("192.0.2.1").dport(80), tcp().dst("192.0.2.2").dport(80),
               tcp().dst("192.0.2.1").dport(8080), tcp().dst("192.0.2.2").dport(8080),
               tcp().dport(443), udp().dport(443), udp().dport(53), tcp().dport(53),
               udp().dst("192.0.2.1").dport(80), tcp().sport(80).dport(5000)}),
        (std::vector<std::string>{"shop", "web", "shop", "", "tls", "h3", "dns", "dns", "", ""}));
}

TEST_F(Services, OfNoneLeaveEveryRowWithout) {
    const RuleSet none;
    services_ = loaded_services(none.services, none.service_classifier);
    EXPECT_EQ(found({tcp().dport(80)}), std::vector<std::string>{""});
}

TEST_F(Services, KnowTheirProxies) {
    const auto is_proxied = [&](std::string_view address) {
        return services_.all[0].is_proxied(parse_address(address).value());
    };
    EXPECT_TRUE(is_proxied("10.0.0.0"));
    EXPECT_TRUE(is_proxied("10.255.255.255"));
    EXPECT_TRUE(is_proxied("11.0.0.0"));
    EXPECT_TRUE(is_proxied("11.127.255.255"));
    EXPECT_TRUE(is_proxied("255.255.255.255"));
    EXPECT_TRUE(is_proxied("2001:db8:1::1"));
    EXPECT_FALSE(is_proxied("9.255.255.255"));
    EXPECT_FALSE(is_proxied("11.128.0.0"));
    EXPECT_FALSE(is_proxied("255.255.255.254"));
    EXPECT_FALSE(is_proxied("2001:db9::"));
    EXPECT_FALSE(services_.all[1].is_proxied(parse_address("10.0.0.1").value()));
}

}  // namespace
}  // namespace sluice::test::service_rows_test
