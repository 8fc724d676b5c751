#include "large_list.hpp"
#include "roof.hpp"
#include "rounds.hpp"

#include "lib/match/address_key.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/lists/list_text.hpp"
#include "lib/wire/codec.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

// A list of a million prefixes: what it takes to read, compile and load it, and what it costs a
// packet beside a list of ten and one random access to memory (`roof`), all prefetched in bursts.
namespace sluice::bench {
namespace {

constexpr std::size_t kEntries = 1'000'000;
constexpr std::string_view kRules = R"yaml(version: 1
data: {lists: {l: {type: cidr, file: l}}}
rules: [{id: a, mode: enforce, when: ip.src in $l, on_match: drop}]
)yaml";

CompiledRules compile(const std::string& list) {
    const ListReader lists = [&](const std::string&) -> Result<ListFile> {
        return ListFile{"l", std::make_shared<const std::string>(list)};
    };
    Problems problems{"bench"};
    std::optional<CompiledRules> compiled =
        compile_rules({"bench", kRules, &lists}, Purpose::Enforce, {}, problems);
    if (!compiled) {
        std::fprintf(stderr, "%s\n", problems.list().front().message.c_str());
        std::exit(1);
    }
    return *std::move(compiled);
}

// Packets of which every other one is from a network of the list, in the same columns burst after
// burst, as in the pipeline.
class Packets {
public:
    static constexpr std::size_t kCount = std::size_t{1} << 20;

    Packets(const std::vector<IpAddress>& inside, IpVersion version) : addresses_(kCount) {
        Random random{3};
        const std::size_t size = version == IpVersion::V4 ? 4 : 16;
        for (IpAddress& address : addresses_) {
            address = inside[random.below(inside.size())];
            if (random() % 2 == 0) {
                const std::size_t kept = version == IpVersion::V4 ? 0 : 2;
                const std::uint64_t other = random();
                std::memcpy(address.bytes.data() + kept, &other,
                            std::min<std::size_t>(size - kept, 8));
            }
        }
        columns_.add_present(HeaderPart::Ip, first_rows(kMaxBurst));
        columns_.v6 = version == IpVersion::V6 ? first_rows(kMaxBurst) : 0;
    }
    void find(const Classifier& classifier) {
        for (std::size_t at = 0; at < kCount; at += kMaxBurst) {
            for (std::size_t i = 0; i < kMaxBurst; ++i) {
                columns_.src6[i] = addresses_[at + i];
                columns_.src_host[i] = static_cast<std::uint32_t>(v4_key(addresses_[at + i]));
            }
            classifier.match_headers(columns_, first_rows(kMaxBurst), matches_);
            for (const RuleMatch& one : matches_.matched()) {
                sum_ += one.rows;
            }
        }
    }
    [[nodiscard]] std::uint64_t sum() const { return sum_; }

private:
    std::vector<IpAddress> addresses_;
    HeaderColumns columns_;
    RuleMatches matches_;
    std::uint64_t sum_ = 0;
};

// What each family of a list is measured as, and one access to memory, and to an array as large as
// what the family's list takes.
struct Sides {
    const Side& few;
    const Side& many;
    const Side& roof;
    const Side& own_roof;
};

void print_cost(const char* name, const Sides& sides, std::size_t bytes) {
    const auto& [few, many, roof, own_roof] = sides;
    const double added = many.median() - few.median();
    std::printf(
        "{\"id\": \"L1\", \"case\": \"%s, a list of 10^6 for one of 10\", \"value\": %.3f, "
        "\"unit\": \"ns added per packet\", \"reference\": \"one roof access\", "
        "\"reference_value\": %.3f, \"ratio\": %.3f, \"of 10\": %.3f, \"table_bytes\": %zu, "
        "\"an access at that size\": %.3f, \"ratio to it\": %.3f, \"rounds\": %s}\n",
        name, added, roof.median(), added / roof.median(), few.median(), bytes, own_roof.median(),
        added / own_roof.median(), list_of(many.rounds).c_str());
}

void print_time(const char* what, double ns) {
    std::printf("{\"id\": \"L2\", \"case\": \"%s\", \"value\": %.1f, \"unit\": \"ms\"}\n", what,
                ns / 1e6);
}

// What sluiced and the dataplane do with it, one after the other.
void measure_loading(const LargeList& list) {
    print_time("read the list",
               cpu_ns_per(1, [&] { (void)read_list_text(list.text(), ListType::Cidr); }));
    std::optional<CompiledRules> compiled;
    print_time("read and compile", cpu_ns_per(1, [&] { compiled = compile(list.text()); }));
    std::vector<std::byte> message;
    print_time("encode", cpu_ns_per(1, [&] {
                   message = encode(Request{ApplyRules{compiled->set, "", "{}"}});
               }));
    print_time("hash", cpu_ns_per(1, [&] { (void)generation_of(compiled->set); }));
    bool sound = false;
    print_time("decode and build",
               cpu_ns_per(1, [&] { sound = decode_request(message).has_value(); }));
    std::printf(
        "{\"id\": \"L2\", \"case\": \"bytes\", \"message\": %zu, \"compiled\": %zu, "
        "\"sound\": %s}\n",
        message.size(), compiled->set.classifier.bytes(), sound ? "true" : "false");
}

int run() {
    const LargeList list{kEntries, 7};
    measure_loading(list);
    CompiledRules many = compile(list.text());
    CompiledRules few = compile(LargeList{10, 7}.text());
    // As the dataplane has them: who compiles has no packets, and no tables for them.
    many.set.classifier.make_fast();
    few.set.classifier.make_fast();
    Packets v4{list.v4(), IpVersion::V4};
    Packets v6{list.v6(), IpVersion::V6};
    const DimensionParts& parts = many.set.classifier.parts().dimensions.front();
    const std::size_t v4_bytes = PackedV4::bytes_for(parts.steps);
    const std::size_t v6_bytes = PackedV6::bytes_for(parts.v6_steps);
    Roof roof{std::size_t{64} << 20};
    Roof v4_roof{v4_bytes};
    Roof v6_roof{v6_bytes};
    Random random{11};
    constexpr std::size_t kCount = Packets::kCount;
    std::vector<Side> sides;
    for (Packets* packets : {&v4, &v6}) {
        for (const CompiledRules* rules : {&std::as_const(few), &std::as_const(many)}) {
            sides.push_back({"", [packets, rules] {
                                 return cpu_ns_per(kCount,
                                                   [&] { packets->find(rules->set.classifier); });
                             }});
        }
    }
    for (Roof* each : {&roof, &v4_roof, &v6_roof}) {
        sides.push_back({"", [each, &random] {
                             return cpu_ns_per(kCount,
                                               [&] { each->within_bursts(kCount / 32, random); });
                         }});
    }
    run_rounds(sides, 7);
    print_cost("IPv4", {sides[0], sides[1], sides[4], sides[5]}, v4_bytes);
    print_cost("IPv6", {sides[2], sides[3], sides[4], sides[6]}, v6_bytes);
    return v4.sum() + v6.sum() == 0 ? 1 : 0;
}

}  // namespace
}  // namespace sluice::bench

int main() {
    return sluice::bench::run();
}
