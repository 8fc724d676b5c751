#include "tests/bench/packet_mill.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/bench/rte_acl_reference.hpp"
#include "tests/bench/rte_reference.hpp"
#include "tests/bench/rule_mix.hpp"
#include "tests/packets/load_rules.hpp"

#include "lib/packet/parse_columns.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <rte_mbuf.h>

// C2: the classifier alone over headers that have been parsed, beside rte_acl over the same rules
// and packets. Both give every rule that a packet matches, and are checked to give the same. The
// packets are IPv4, since rte_acl's rules here have no room for IPv6. Prints one JSON object a
// line.
namespace sluice::bench {
namespace {

constexpr std::size_t kBursts = 128;
constexpr std::size_t kPackets = kBursts * kMaxBurst;
constexpr std::size_t kCounts[] = {10, 100, 1'000, 10'000};
constexpr int kRounds = 7;

// Well-formed IPv4 packets of the mill, parsed, and as rte_acl takes them.
class Traffic {
public:
    Traffic() {
        PacketMill mill{PacketMill::Headers::AnySource};
        while (inputs_.size() < kPackets) {
            PacketMill::Frames frames;
            mill.receive(frames);
            for (const rte_mbuf* frame : frames) {
                add(frame);
            }
            mill.send(frames);
        }
        for (std::size_t burst = 0; burst < kBursts; ++burst) {
            parse_columns(frames_[burst], {}, columns_[burst]);
        }
        for (const AclInput& input : inputs_) {
            pointers_.push_back(reinterpret_cast<const std::uint8_t*>(&input));
        }
    }

    [[nodiscard]] const HeaderColumns& columns(std::size_t burst) const { return columns_[burst]; }
    [[nodiscard]] std::span<const std::uint8_t* const> inputs(std::size_t burst) const {
        return std::span{pointers_}.subspan(burst * kMaxBurst, kMaxBurst);
    }

private:
    void add(const rte_mbuf* from) {
        const auto* const at = rte_pktmbuf_mtod(from, const std::byte*);
        const FrameView view{{at, from->data_len}, from->data_len};
        PacketHeaders headers;
        if (parse_frame(view, {}, headers) != Parsed::Ok || headers.ip_version != IpVersion::V4 ||
            inputs_.size() == kPackets) {
            return;
        }
        bytes_.emplace_back(view.bytes.begin(), view.bytes.end());
        frames_[inputs_.size() / kMaxBurst].add(bytes_.back(), view.wire_size);
        const bool reset = headers.fields.has(Field::TcpRst) && (headers.tcp_flags & 4) != 0;
        AclInput input{
            .proto = headers.proto,
            .sport = __builtin_bswap16(headers.sport),
            .dport = __builtin_bswap16(headers.dport),
            .ip_len = __builtin_bswap16(static_cast<std::uint16_t>(headers.ip_len)),
            .payload_len = __builtin_bswap16(static_cast<std::uint16_t>(headers.payload_len)),
            .ttl = headers.ttl,
            .dscp = headers.dscp,
            .version_and_frag =
                static_cast<std::uint8_t>(0x40U | static_cast<unsigned>(headers.frag)),
            .tcp_rst = static_cast<std::uint8_t>(reset ? 1 : 0)};
        std::memcpy(&input.dst, headers.dst.bytes.data(), sizeof(input.dst));
        inputs_.push_back(input);
    }

    std::vector<std::vector<std::byte>> bytes_;
    std::vector<FrameColumns> frames_{kBursts};
    std::vector<HeaderColumns> columns_{kBursts};
    std::vector<AclInput> inputs_;
    std::vector<const std::uint8_t*> pointers_;
};

using Found = std::array<std::uint32_t, kMaxBurst * RteAcl::kCategories>;

// Ends the program where they do not find the same.
void check_same(const Traffic& traffic, const Classifier& classifier, const RteAcl& acl,
                RuleMatches& matches) {
    for (std::size_t burst = 0; burst < kBursts; ++burst) {
        Found found{};
        acl.classify(traffic.inputs(burst), found.data());
        std::vector<std::pair<std::uint32_t, std::size_t>> theirs;  // rule, row
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i] != RteAcl::kNone) {
                theirs.emplace_back(found[i] - 1, i / RteAcl::kCategories);
            }
        }
        std::sort(theirs.begin(), theirs.end());
        classifier.match_headers(traffic.columns(burst), ~RowMask{0}, matches);
        std::vector<std::pair<std::uint32_t, std::size_t>> ours;
        for (const RuleMatch& match : matches.matched()) {
            for_each_row(match.rows, [&](std::size_t row) { ours.emplace_back(match.rule, row); });
        }
        if (ours != theirs) {
            std::fprintf(stderr, "burst %zu: %zu matches, and %zu of rte_acl\n", burst, ours.size(),
                         theirs.size());
            std::exit(1);
        }
    }
}

void measure(const Traffic& traffic, std::size_t count, RuleMatches& matches, bool quick) {
    const std::string text =
        mixed_rules(count, "[{algorithm: token_bucket, rate: 1M/s, burst: 1M}]", 1);
    Classifier classifier = test::enforced({"mix", text, nullptr}).set.classifier;
    classifier.make_fast();
    const std::size_t passes = quick ? 64 : 1024;
    std::uint64_t sum = 0;  // so that nothing is left out
    std::vector<Side> sides;
    sides.push_back({"classifier", [&] {
                         return cpu_ns_per(passes * kPackets, [&] {
                             for (std::size_t i = 0; i < passes * kBursts; ++i) {
                                 classifier.match_headers(traffic.columns(i % kBursts), ~RowMask{0},
                                                          matches);
                                 sum += matches.matched().size();
                             }
                         });
                     }});
    std::vector<std::unique_ptr<RteAcl>> acls;
    for (const RteAcl::Form& form : RteAcl::forms()) {
        acls.push_back(std::make_unique<RteAcl>(text, form));
        const RteAcl& acl = *acls.back();
        check_same(traffic, classifier, acl, matches);
        sides.push_back({form.name, [&traffic, &acl, &sum, passes] {
                             return cpu_ns_per(passes * kPackets, [&] {
                                 Found found;
                                 for (std::size_t i = 0; i < passes * kBursts; ++i) {
                                     acl.classify(traffic.inputs(i % kBursts), found.data());
                                     sum += found[0];
                                 }
                             });
                         }});
    }
    run_rounds(sides, kRounds);
    const Side& best =
        *std::min_element(sides.begin() + 1, sides.end(),
                          [](const Side& a, const Side& b) { return a.median() < b.median(); });
    std::printf(
        "{\"id\": \"C2\", \"case\": \"%zu rules\", \"value\": %.3f, \"unit\": \"Mpps\", "
        "\"reference\": \"rte_acl\", \"reference_value\": %.3f, \"ratio\": %.3f, \"way\": \"%s\", "
        "\"form\": \"%s\", \"clauses\": %zu, \"bytes\": %zu, \"rounds\": %s, "
        "\"reference_rounds\": %s, \"plot\": \"rules\", \"x\": %zu, \"series\": \"classifier\", "
        "\"sum\": "
        "%lu}\n",
        count, 1000 / sides[0].median(), 1000 / best.median(), best.median() / sides[0].median(),
        classifier.is_by_clause() ? "by clause" : "by index", best.name.c_str(),
        classifier.parts().rule_of.size(), classifier.bytes(), list_of(sides[0].rounds).c_str(),
        list_of(best.rounds).c_str(), count, sum % 1000);
}

int run(bool quick) {
    if (!start_eal()) {
        return 1;
    }
    const Traffic traffic;
    RuleMatches matches;
    for (const std::size_t count : kCounts) {
        measure(traffic, count, matches, quick);
    }
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    return sluice::bench::run(count > 1 && std::strcmp(arguments[count - 1], "--quick") == 0);
}
