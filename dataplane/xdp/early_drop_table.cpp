#include "dataplane/xdp/early_drop_table.hpp"

#include "dataplane/xdp/kernel_refusal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

namespace sluice {
namespace {

constexpr std::uint32_t kFirst = 0;
constexpr std::size_t kEndedForOne = 64;  // that are looked for when there is no place
constexpr unsigned kMostAskedBits = 12;   // of a network in which each other one is looked up

Fd make_networks(std::size_t most) {
    bpf_map_create_opts options{};
    options.sz = sizeof(options);
    options.map_flags = BPF_F_NO_PREALLOC;
    return Fd{bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "early_networks", sizeof(sluice_network),
                             sizeof(sluice_drop), static_cast<std::uint32_t>(most), &options)};
}

sluice_drop entry_of(const EarlyDrop& drop) {
    sluice_drop entry = drop.drop;
    entry.length = static_cast<__u8>(drop.network.length - SLUICE_VERSION_BITS);
    return entry;
}

// The network of so many bits around it.
sluice_network cut_to(sluice_network network, unsigned bits) {
    network.length = SLUICE_VERSION_BITS + bits;
    for (unsigned at = 0; at < sizeof(network.from.bytes); ++at) {
        const unsigned left = std::clamp(bits, 8 * at, 8 * at + 8) - 8 * at;
        network.from.bytes[at] &= static_cast<__u8>(0xFF00U >> left);
    }
    return network;
}

bool lies_in(const sluice_network& network, const sluice_network& wider) {
    if (network.length < wider.length) {
        return false;
    }
    const sluice_network cut = cut_to(network, wider.length - SLUICE_VERSION_BITS);
    return std::memcmp(&cut, &wider, sizeof(cut)) == 0;
}

// 0: it is one address.
unsigned bits_inside(const sluice_network& network) {
    return SLUICE_VERSION_BITS + (network.from.version == 4 ? 32U : 128U) - network.length;
}

// The network in it that so many bits more say the number of.
sluice_network part_of(sluice_network network, unsigned bits, std::uint32_t number) {
    network.length += bits;
    for (unsigned at = 0; at < bits; ++at) {
        const unsigned place = network.length - SLUICE_VERSION_BITS - 1 - at;
        network.from.bytes[place / 8] |= static_cast<__u8>((number >> at & 1U) << (7 - place % 8));
    }
    return network;
}

}  // namespace

Result<EarlyDropTable> EarlyDropTable::make(std::size_t most) {
    EarlyDropTable made;
    made.most_ = most;
    const int cpus = libbpf_num_possible_cpus();
    const Fd shape = make_networks(1);
    if (cpus < 1 || !shape.is_open()) {
        return kernel_refusal("a map of networks");
    }
    made.cpus_ = static_cast<unsigned>(cpus);
    bpf_map_create_opts options{};
    options.sz = sizeof(options);
    options.inner_map_fd = static_cast<std::uint32_t>(shape.get());
    made.networks_ = Fd{bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "early_drop", sizeof(kFirst),
                                       sizeof(std::uint32_t), 1, &options)};
    made.counts_ = Fd{bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "early_counts", sizeof(kFirst),
                                     sizeof(sluice_drop_count), SLUICE_DROP_ROWS, nullptr)};
    if (!made.networks_.is_open() || !made.counts_.is_open()) {
        return kernel_refusal("the maps of `early_drop`");
    }
    return made;
}

// The kernel waits for programs that still look into what was there before it returns.
std::size_t EarlyDropTable::publish(std::span<const EarlyDrop> drops) {
    ends_.clear();
    if (drops.empty()) {
        clear();
        return 0;
    }
    Fd networks = make_networks(most_);
    std::size_t added = 0;
    std::size_t places = 0;
    for (const EarlyDrop& one : drops.first(std::min(drops.size(), most_))) {
        if (!networks.is_open() || !put(one, networks.get(), places)) {
            break;
        }
        ++added;
    }
    const int fd = networks.get();
    if (added == 0 || bpf_map_update_elem(networks_.get(), &kFirst, &fd, BPF_ANY) != 0) {
        clear();
        return 0;
    }
    now_ = std::move(networks);
    size_ = places;
    for (const EarlyDrop& one : drops.first(added)) {
        note_end(one);
    }
    return added;
}

// The first of two drops of the same network counts, unless the other one passes: then it is left
// to the box.
bool EarlyDropTable::put(const EarlyDrop& drop, int networks, std::size_t& places) {
    const sluice_drop entry = entry_of(drop);
    if (bpf_map_update_elem(networks, &drop.network, &entry, BPF_NOEXIST) == 0) {
        ++places;
        return true;
    }
    return errno == EEXIST &&
           (drop.drop.passes == 0 ||
            bpf_map_update_elem(networks, &drop.network, &entry, BPF_EXIST) == 0);
}

bool EarlyDropTable::passes(const sluice_network& network) const {
    sluice_drop drop{};
    return size_ != 0 && bpf_map_lookup_elem(now_.get(), &network, &drop) == 0 && drop.passes != 0;
}

bool EarlyDropTable::add(const EarlyDrop& drop, std::uint64_t now) {
    if (size_ == 0) {
        return publish({&drop, 1}) == 1;
    }
    if (passes(drop.network)) {
        return false;
    }
    // An earlier drop of the same network may be there.
    erase(drop.network);
    if (size_ >= most_) {
        remove_ended(now, kEndedForOne);
    }
    const sluice_drop entry = entry_of(drop);
    const bool added =
        size_ < most_ && bpf_map_update_elem(now_.get(), &drop.network, &entry, BPF_NOEXIST) == 0;
    size_ += added ? 1 : 0;
    if (added) {
        note_end(drop);
    }
    return added;
}

// Ends of what is no longer there are no more than what may be.
void EarlyDropTable::note_end(const EarlyDrop& drop) {
    if (drop.drop.until == 0) {
        return;
    }
    if (ends_.size() >= 2 * most_) {
        ends_.keep_if([this](const NetworkEnds::End& end) { return ends_so(end); });
    }
    ends_.add({drop.drop.until, drop.network});
}

// The kernel may find a wider network where this one is not there: to remove it by its own length
// does nothing then.
bool EarlyDropTable::ends_so(const NetworkEnds::End& end) const {
    sluice_drop drop{};
    return size_ != 0 && bpf_map_lookup_elem(now_.get(), &end.network, &drop) == 0 &&
           drop.until == end.at;
}

void EarlyDropTable::remove_ended(std::uint64_t now, std::size_t most) {
    for (std::size_t removed = 0; removed < most; ++removed) {
        const std::optional<NetworkEnds::End> end = ends_.take_ended(now);
        if (!end) {
            return;
        }
        if (ends_so(*end)) {
            erase(end->network);
        }
    }
}

void EarlyDropTable::remove(const sluice_network& network) {
    if (!passes(network)) {
        erase(network);
    }
}

void EarlyDropTable::erase(const sluice_network& network) {
    if (size_ != 0 && bpf_map_delete_elem(now_.get(), &network) == 0) {
        --size_;
    }
}

void EarlyDropTable::clear() {
    if (size_ != 0) {
        (void)bpf_map_delete_elem(networks_.get(), &kFirst);
        now_ = Fd{};
        size_ = 0;
    }
}

// A look-up finds the narrowest network around one, and its entry says how wide that is.
std::optional<EarlyDrop> EarlyDropTable::around(const sluice_network& network) const {
    EarlyDrop found{};
    if (bpf_map_lookup_elem(now_.get(), &network, &found.drop) != 0) {
        return std::nullopt;
    }
    found.network = cut_to(network, found.drop.length);
    return found;
}

EarlyDropTable::Found EarlyDropTable::find(const sluice_network& network, std::size_t most) const {
    Found found{.whole = true};
    if (size_ == 0) {
        return found;
    }
    sluice_network next = network;
    while (const std::optional<EarlyDrop> one = around(next)) {
        found.more = found.drops.size() == most;
        if (found.more) {
            return found;
        }
        found.drops.push_back(*one);
        if (one->drop.length == 0) {
            break;
        }
        next = cut_to(one->network, one->drop.length - 1U);
    }
    const unsigned bits = bits_inside(network);
    if (bits <= kMostAskedBits && (std::size_t{2} << bits) < size_) {
        ask_inside(network, most, found);
    } else if (bits != 0) {
        read_inside(network, most, found);
    }
    return found;
}

// Each network that may lie in it is looked up.
void EarlyDropTable::ask_inside(const sluice_network& network, std::size_t most,
                                Found& found) const {
    for (unsigned bits = 1; bits <= bits_inside(network); ++bits) {
        for (std::uint32_t number = 0; number < 1U << bits; ++number) {
            const std::optional<EarlyDrop> one = around(part_of(network, bits, number));
            if (!one || one->network.length != network.length + bits) {
                continue;
            }
            found.more = found.drops.size() == most;
            if (found.more) {
                return;
            }
            found.drops.push_back(*one);
        }
    }
}

// Nobody else changes the map meanwhile. The kernel goes through it in the order of its tree, and
// cannot begin at a network.
void EarlyDropTable::read_inside(const sluice_network& network, std::size_t most,
                                 Found& found) const {
    sluice_network at{};
    const sluice_network* before = nullptr;
    for (std::size_t read = 0; bpf_map_get_next_key(now_.get(), before, &at) == 0; ++read) {
        if (read == kMostRead) {
            found.whole = false;
            return;
        }
        before = &at;
        EarlyDrop one{.network = at, .drop = {}};
        if (at.length == network.length || !lies_in(at, network) ||
            bpf_map_lookup_elem(now_.get(), &at, &one.drop) != 0) {
            continue;
        }
        found.more = found.drops.size() == most;
        if (found.more) {
            return;
        }
        found.drops.push_back(one);
    }
}

sluice_drop_count EarlyDropTable::count(std::uint32_t row) const {
    sluice_drop_count all{};
    std::vector<sluice_drop_count> by_cpu(cpus_);
    if (bpf_map_lookup_elem(counts_.get(), &row, by_cpu.data()) == 0) {
        for (const sluice_drop_count& one : by_cpu) {
            all.packets += one.packets;
            all.bytes += one.bytes;
        }
    }
    return all;
}

}  // namespace sluice
