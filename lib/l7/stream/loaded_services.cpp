#include "lib/l7/stream/loaded_services.hpp"

#include "lib/match/address_key.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

template <typename Key>
struct KeyRange {
    Key first{};
    Key last{};
};

// A network of so many bits, of the `bits` that an address has.
template <typename Key>
KeyRange<Key> range_of(Key first, unsigned bits, unsigned length) noexcept {
    constexpr unsigned kKeyBits = 8 * sizeof(Key);
    const Key hosts =
        length == bits ? Key{0} : static_cast<Key>(~Key{0} >> (kKeyBits - bits + length));
    return {first, static_cast<Key>(first | hosts)};
}

// Sorted, and what touches is one.
template <typename Key>
std::vector<KeyRange<Key>> merged(std::vector<KeyRange<Key>> ranges, Key largest) {
    std::sort(ranges.begin(), ranges.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<KeyRange<Key>> all;
    for (const KeyRange<Key>& range : ranges) {
        const bool touches = !all.empty() && (all.back().last == largest ||
                                              range.first <= static_cast<Key>(all.back().last + 1));
        if (touches) {
            all.back().last = std::max(all.back().last, range.last);
        } else {
            all.push_back(range);
        }
    }
    return all;
}

// Inside and outside by turns.
template <typename Key>
std::vector<Step<Key>> steps_of(std::vector<KeyRange<Key>> ranges, Key largest) {
    std::vector<Step<Key>> steps{{0, 0}};
    for (const KeyRange<Key>& range : merged(std::move(ranges), largest)) {
        if (range.first == 0) {
            steps.pop_back();
        }
        steps.push_back({range.first, 1});
        if (range.last != largest) {
            steps.push_back({static_cast<Key>(range.last + 1), 0});
        }
    }
    return steps;
}

AddressSetParts parts_of(const std::vector<IpPrefix>& networks) {
    std::vector<KeyRange<std::uint64_t>> v4;
    std::vector<KeyRange<Wide>> v6;
    for (const IpPrefix& network : networks) {
        if (network.version == IpVersion::V4) {
            v4.push_back(range_of<std::uint64_t>(v4_key(network.address), 32, network.length));
        } else {
            v6.push_back(range_of<Wide>(v6_key(network.address), 128, network.length));
        }
    }
    return {.steps = steps_of<std::uint64_t>(std::move(v4), UINT32_MAX),
            .v6_steps = steps_of<Wide>(std::move(v6), ~Wide{0})};
}

// Once a server has gone over to another protocol its client's bytes pass, or are refused.
bool follows_upgrades(const Service& service) noexcept {
    const bool passes_some = service.upgrades != PassedUpgrades{};
    return service.protocol == ServiceProtocol::Http && service.path != ServicePath::Inbound &&
           (passes_some || service.mode == Mode::Enforce);
}

}  // namespace

LoadedServices loaded_services(const std::vector<Service>& services, const Classifier& classifier) {
    LoadedServices loaded;
    loaded.classifier = services.empty() ? nullptr : &classifier;
    for (const Service& service : services) {
        LoadedService& one = loaded.all.emplace_back(LoadedService{service});
        loaded.enforces |= service.mode == Mode::Enforce;
        loaded.follows_upgrades |= follows_upgrades(service);
        if (!service.proxies.empty()) {
            one.proxy_set = std::make_shared<const AddressSet>(parts_of(service.proxies));
        }
    }
    return loaded;
}

void follow_one_way(LoadedServices& services) noexcept {
    for (LoadedService& service : services.all) {
        service.path = ServicePath::Inbound;
    }
}

}  // namespace sluice
