#include "tests/bench/rule_mix.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace sluice::bench {
namespace {

constexpr std::size_t kDestinationBits = 17;  // PacketMill's network is a /15
constexpr std::uint32_t kNetwork = 198U << 24 | 18U << 16;

std::string dotted(std::uint32_t address) {
    return std::to_string(address >> 24) + "." + std::to_string(address >> 16 & 255) + "." +
           std::to_string(address >> 8 & 255) + "." + std::to_string(address & 255);
}

// Ports [0, 65536) in `parts` ranges of nearly one size: the condition of each.
std::vector<std::string> port_ranges(const std::string& field, std::size_t parts, unsigned shift) {
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < parts; ++i) {
        const std::size_t first = i == 0 ? 0 : 65536 * i / parts + shift;
        const std::size_t last = i + 1 == parts ? 65535 : 65536 * (i + 1) / parts + shift - 1;
        ranges.push_back(field + " ge " + std::to_string(first) + " and " + field + " le " +
                         std::to_string(last));
    }
    return ranges;
}

// What holds of every packet of the mill, so that it narrows nothing and must be asked all the
// same.
std::string decoration(std::mt19937_64& random, unsigned shift) {
    static const auto kAlways = std::to_array<std::string>(
        {"", "", " and ip.len lt 1400", " and ip.ttl gt 1", " and not tcp.flags.rst",
         " and payload.len le 1000", " and ip.frag eq \"none\"", " and ip.dscp lt 60"});
    return kAlways[(random() + shift) % kAlways.size()];
}

// By destination network and port; IPv6 has a rule of its own.
std::vector<std::string> by_destination(std::size_t count, std::mt19937_64& random,
                                        unsigned shift) {
    std::size_t bits = 3;
    while ((std::size_t{1} << (bits + 1)) * 8 <= count - 1) {
        ++bits;
    }
    const std::size_t networks = std::size_t{1} << bits;
    std::vector<std::string> conditions{"ip.version eq 6"};
    for (std::size_t network = 0; network < networks; ++network) {
        const auto address = kNetwork | static_cast<std::uint32_t>(network)
                                            << (kDestinationBits - bits);
        // The rules that are left over go to the first networks.
        const std::size_t parts = (count - 1) / networks + (network < (count - 1) % networks);
        for (const std::string& ports : port_ranges("l4.dport", parts, shift)) {
            conditions.push_back("ip.dst in {" + dotted(address) + "/" +
                                 std::to_string(32 - kDestinationBits + bits) + "} and " + ports +
                                 decoration(random, shift));
        }
    }
    return conditions;
}

// By protocol and source port.
std::vector<std::string> by_source_port(std::size_t count, std::mt19937_64& random,
                                        unsigned shift) {
    const std::size_t tcp = count / 16;
    std::vector<std::string> conditions;
    for (const std::string& ports : port_ranges("l4.sport", tcp, shift)) {
        conditions.push_back("ip.proto eq 6 and " + ports + decoration(random, shift));
    }
    for (const std::string& ports : port_ranges("l4.sport", count - tcp, shift)) {
        conditions.push_back("ip.proto eq 17 and " + ports + decoration(random, shift));
    }
    return conditions;
}

void add_rule(std::string& file, std::size_t number, const std::string& when,
              const std::string& limits) {
    file += "  - id: r" + std::to_string(number) + "\n    mode: enforce\n" +
            (when.empty() ? "" : "    when: '" + when + "'\n") +
            "    key: [ip.src]\n    limits: " + limits + "\n";
}

}  // namespace

std::string mixed_rules(std::size_t count, const std::string& limits, std::uint64_t seed,
                        unsigned shift) {
    std::mt19937_64 random{seed};
    std::vector<std::string> conditions = by_destination(count / 2, random, shift);
    const std::vector<std::string> others = by_source_port(count - count / 2, random, shift);
    conditions.insert(conditions.end(), others.begin(), others.end());
    std::shuffle(conditions.begin(), conditions.end(), random);
    std::string file = "version: 1\nrules:\n";
    for (std::size_t i = 0; i < conditions.size(); ++i) {
        add_rule(file, i, conditions[i], limits);
    }
    return file;
}

std::string two_rules(const std::string& limits) {
    std::string file = "version: 1\nrules:\n";
    add_rule(file, 0, "", limits);
    add_rule(file, 1, "", limits);
    return file;
}

}  // namespace sluice::bench
