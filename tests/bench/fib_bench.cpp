#include "large_list.hpp"
#include "prefix_steps.hpp"
#include "roof.hpp"
#include "rounds.hpp"
#include "rte_fib_reference.hpp"
#include "rte_reference.hpp"

#include "lib/match/address_key.hpp"
#include "lib/match/range_table.hpp"
#include "lib/packet/country.hpp"

#include <cstdlib>
#include <fstream>
#include <optional>

// G1: from an address to a small number, a burst of 32 at a time, beside rte_fib and rte_fib6 over
// the same prefixes. The prefixes are those of the countries of the world as Debian's tor-geoipdb
// has them, and those of a large list. Half of the addresses are from one of the networks, the
// others from anywhere.
namespace sluice::bench {
namespace {

constexpr const char* kCountries[] = {"/usr/share/tor/geoip", "/usr/share/tor/geoip6"};
constexpr std::size_t kBurst = 32;
constexpr std::size_t kLookUps = std::size_t{1} << 21;

template <typename Key>
constexpr bool kIsV6 = sizeof(Key) > sizeof(std::uint64_t);
template <typename Key>
constexpr unsigned kWidth = kIsV6<Key> ? 128 : 32;

template <typename Key>
std::optional<Key> key_of(const std::string& text) {
    if constexpr (kIsV6<Key>) {
        const auto address = parse_address(text);
        return address ? std::optional{v6_key(address->address)} : std::nullopt;
    } else {
        char* end = nullptr;
        const std::uint64_t key = std::strtoull(text.c_str(), &end, 10);
        return end == text.c_str() ? std::nullopt : std::optional{key};
    }
}

// The prefixes that a range is made of.
template <typename Key>
void add_range(std::vector<Prefix<Key>>& prefixes, Key first, Key last, std::uint32_t value) {
    for (;;) {
        unsigned host_bits = 0;
        while (host_bits < kWidth<Key> && ((first >> host_bits) & 1) == 0 &&
               (first | ((Key{2} << host_bits) - 1)) <= last) {
            ++host_bits;
        }
        const Prefix<Key> prefix{first, kWidth<Key> - host_bits, value};
        prefixes.push_back(prefix);
        const Key end = last_of(prefix, kWidth<Key>);
        if (end >= last) {
            return;
        }
        first = end + 1;
    }
}

// Lines of `first,last,CODE`.
template <typename Key>
std::vector<Prefix<Key>> countries() {
    std::vector<Prefix<Key>> prefixes;
    std::ifstream file{kCountries[kIsV6<Key> ? 1 : 0]};
    for (std::string line; std::getline(file, line);) {
        const std::size_t comma = line.find(',');
        const std::size_t second = line.find(',', comma + 1);
        if (line.starts_with('#') || second == std::string::npos) {
            continue;
        }
        const auto first = key_of<Key>(line.substr(0, comma));
        const auto last = key_of<Key>(line.substr(comma + 1, second - comma - 1));
        const std::uint32_t country = country_number(line.substr(second + 1));
        if (first && last && country != 0) {
            add_range(prefixes, *first, *last, country);
        }
    }
    return prefixes;
}

// One prefix in so many: rte_fib6 takes a KiB for each eight bits of each prefix.
template <typename Key>
std::vector<Prefix<Key>> thinned(const std::vector<Prefix<Key>>& prefixes, std::size_t most) {
    std::vector<Prefix<Key>> some;
    const std::size_t stride = prefixes.size() / most + 1;
    for (std::size_t i = 0; i < prefixes.size(); i += stride) {
        some.push_back(prefixes[i]);
    }
    return some;
}

template <typename Key>
std::vector<Prefix<Key>> large(std::size_t entries) {
    const LargeList list{entries, 7};
    std::vector<Prefix<Key>> prefixes;
    std::uint32_t value = 0;
    std::size_t at = 0;
    while (at < list.text().size()) {
        const std::size_t end = list.text().find('\n', at);
        const auto prefix = parse_prefix(std::string_view{list.text()}.substr(at, end - at));
        at = end + 1;
        if (prefix && (prefix->version == IpVersion::V6) == kIsV6<Key>) {
            value = value % 1000 + 1;
            Key first = 0;
            if constexpr (kIsV6<Key>) {
                first = v6_key(prefix->address);
            } else {
                first = v4_key(prefix->address);
            }
            prefixes.push_back({first, prefix->length, value});
        }
    }
    // Of two alike each side would take another.
    std::stable_sort(prefixes.begin(), prefixes.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.length < b.length;
    });
    const auto same = [](const auto& a, const auto& b) {
        return a.first == b.first && a.length == b.length;
    };
    prefixes.erase(std::unique(prefixes.begin(), prefixes.end(), same), prefixes.end());
    return prefixes;
}

template <typename Key>
std::vector<Key> addresses_for(const std::vector<Prefix<Key>>& prefixes) {
    Random random{3};
    std::vector<Key> keys(kLookUps);
    for (Key& key : keys) {
        Key any = random();
        if constexpr (kIsV6<Key>) {
            any = (any << 64 | random()) >> 3 | Key{1} << 125;
        } else {
            any &= 0xFFFF'FFFF;
        }
        const Prefix<Key>& prefix = prefixes[random.below(prefixes.size())];
        const Key others = last_of(prefix, kWidth<Key>) - prefix.first;
        key = random.below(2) == 0 ? any : prefix.first + (any & others);
    }
    return keys;
}

template <typename Key, typename Table>
std::uint64_t look_up_all(const Table& table, const std::vector<Key>& keys) {
    std::uint64_t sum = 0;
    std::array<std::uint32_t, kBurst> values;
    for (std::size_t at = 0; at < keys.size(); at += kBurst) {
        const auto burst = std::span<const Key>{keys}.subspan(at, kBurst);
        table.find_each(burst, values.data());
        for (const std::uint32_t value : values) {
            sum += value;
        }
    }
    return sum;
}

template <typename Key>
bool measure(const char* name, const std::vector<Prefix<Key>>& prefixes, Roof& roof) {
    const std::vector<Step<Key>> steps = steps_of(prefixes, kWidth<Key>);
    const auto table = RangeTable<Key>::make(steps);
    if (!table) {
        std::fprintf(stderr, "%s\n", table.error().what.c_str());
        return false;
    }
    const double build = cpu_ns_per(1, [&] { (void)RangeTable<Key>::make(steps).has_value(); });
    const RteFib<Key> reference{prefixes};
    const std::vector<Key> keys = addresses_for(prefixes);
    if (look_up_all(*table, keys) != look_up_all(reference, keys)) {
        std::fprintf(stderr, "%s: not what DPDK finds\n", name);
        return false;
    }
    std::uint64_t sum = 0;
    Random random{5};
    std::vector<Side> sides{
        {"ours", [&] { return cpu_ns_per(kLookUps, [&] { sum += look_up_all(*table, keys); }); }},
        {"rte", [&] { return cpu_ns_per(kLookUps, [&] { sum += look_up_all(reference, keys); }); }},
        {"roof", [&] {
             return cpu_ns_per(kLookUps, [&] { roof.within_bursts(kLookUps / kBurst, random); });
         }}};
    run_rounds(sides, 5);
    const double ours = sides[0].median();
    const char* library = kIsV6<Key> ? "rte_fib6" : "rte_fib";
    std::printf(
        "{\"id\": \"G1\", \"case\": \"%s, %zu prefixes\", \"value\": %.2f, \"unit\": \"ns per "
        "look-up\", \"reference\": \"%s\", \"reference_value\": %.2f, \"ratio\": %.3f, \"one roof "
        "access\": %.2f, \"rounds\": %s}\n",
        name, prefixes.size(), ours, library, sides[1].median(), ours / sides[1].median(),
        sides[2].median(), list_of(sides[0].rounds).c_str());
    std::printf(
        "{\"id\": \"G1\", \"case\": \"%s: memory\", \"value\": %.1f, \"unit\": \"MiB\", "
        "\"reference\": \"%s with its tree\", \"reference_value\": %.1f, \"ratio\": %.3f, "
        "\"steps\": %zu, \"build ms\": %.1f}\n",
        name, static_cast<double>(table->bytes()) / (1 << 20), library,
        static_cast<double>(reference.bytes()) / (1 << 20),
        static_cast<double>(table->bytes()) / static_cast<double>(reference.bytes()), steps.size(),
        build / 1e6);
    (void)std::fflush(stdout);
    return sum != 0;
}

int run() {
    if (!start_eal()) {
        std::fprintf(stderr, "the EAL does not start\n");
        return 1;
    }
    const auto v4 = countries<std::uint64_t>();
    const auto v6 = countries<Wide>();
    if (v4.empty() || v6.empty()) {
        std::fprintf(stderr, "no countries in %s or %s: they are those of tor-geoipdb\n",
                     kCountries[0], kCountries[1]);
        return 1;
    }
    Roof roof{std::size_t{64} << 20};
    bool good = measure("IPv4, countries", v4, roof);
    good = measure("IPv6, some of the countries", thinned(v6, 150'000), roof) && good;
    good = measure("IPv4, a large list", large<std::uint64_t>(1'000'000), roof) && good;
    good = measure("IPv6, a large list", large<Wide>(200'000), roof) && good;
    return good ? 0 : 1;
}

}  // namespace
}  // namespace sluice::bench

int main() {
    return sluice::bench::run();
}
