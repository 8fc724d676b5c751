#include "dataplane/xdp/kernel_bridge.hpp"

#include "dataplane/port/device.hpp"
#include "dataplane/xdp/monotonic_now.hpp"
#include "dataplane/xdp/pair_map.hpp"
#include "dataplane/xdp/pins.hpp"
#include "dataplane/xdp/port_program.hpp"
#include "lib/base/log.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <net/if.h>

namespace sluice {

struct KernelBridge::Pair {
    std::string name;
    KernelOptions options;
    PairMap map;
    std::array<PortPlace, 2> places;
    std::array<std::optional<PortProgram>, 2> programs;
    bool told_refused = false;  // that a program cannot be attached again, said once

    // To interfaces that were deleted and are there again.
    void attach_again();
};

namespace {

bool is_af_xdp(const PortConfig& port) {
    return port.device.starts_with("net_af_xdp");
}

bool is_where_it_was(const PortPlace& place, const std::optional<PortProgram>& program) {
    const unsigned index = ::if_nametoindex(place.interface.c_str());
    const unsigned peer = ::if_nametoindex(place.peer.c_str());
    // Of one that is gone nothing can be attached until it returns.
    return index == 0 || peer == 0 ||
           (program && program->index() == index && program->peer_index() == peer);
}

}  // namespace

void KernelBridge::Pair::attach_again() {
    for (std::size_t side = 0; side < programs.size(); ++side) {
        if (is_where_it_was(places[side], programs[side])) {
            continue;
        }
        Result<PortProgram> program = PortProgram::attach(places[side]);
        if (program) {
            programs[side] = *std::move(program);
            told_refused = false;
            log_info("the program in the kernel is at " + places[side].interface + " again");
        } else if (!std::exchange(told_refused, true)) {
            log_error(program.error().what);
        }
    }
}

KernelBridge::KernelBridge() = default;

KernelBridge::~KernelBridge() = default;

void KernelBridge::end() noexcept {
    for (const auto& pair : pairs_) {
        pair->map.end();
    }
}

Result<std::unique_ptr<KernelBridge>> KernelBridge::attach(const BoxConfig& box) {
    std::unique_ptr<KernelBridge> made;
    if (!box.kernel) {
        return made;
    }
    made.reset(new KernelBridge);
    for (const PairConfig& pair : box.pairs) {
        if (!is_af_xdp(pair.outside) || !is_af_xdp(pair.inside)) {
            log_warn("pair " + pair.name +
                     " ends with the process: `kernel` is for pairs of two net_af_xdp ports");
            continue;
        }
        if (const Result<Done> done = made->attach_pair(box, pair); !done) {
            return done.error();
        }
    }
    return made;
}

Result<Done> KernelBridge::attach_pair(const BoxConfig& box, const PairConfig& config) {
    const std::string folder = pins_of_pair(box, config.name);
    if (const Result<Done> done = make_pins_folder(box, folder); !done) {
        return done.error();
    }
    Result<PairMap> map = PairMap::open(folder, *box.kernel);
    if (!map) {
        return map.error();
    }
    auto pair = std::make_unique<Pair>();
    pair->name = config.name;
    pair->options = *box.kernel;
    pair->map = *std::move(map);
    for (std::size_t side = 0; side < 2; ++side) {
        const PortConfig& port = side == 0 ? config.outside : config.inside;
        const PortConfig& peer = side == 0 ? config.inside : config.outside;
        if (!device_argument(port.device, "xdp_prog").empty()) {
            return Error{Errc::Refused, port.device +
                                            " has a program of its own (`xdp_prog`), and "
                                            "`kernel` another one: take one of them out"};
        }
        pair->places[side] = {device_argument(port.device, "iface"),
                              device_argument(peer.device, "iface"), side, folder, pair->map.fd()};
        Result<PortProgram> program = PortProgram::attach(pair->places[side]);
        if (!program) {
            return program.error();
        }
        pair->programs[side] = *std::move(program);
    }
    pairs_.push_back(std::move(pair));
    return Done{};
}

void KernelBridge::beat(std::uint64_t at) noexcept {
    for (const auto& pair : pairs_) {
        pair->map.beat(at);
    }
}

void KernelBridge::watch() {
    for (const auto& pair : pairs_) {
        pair->attach_again();
        if (const std::uint64_t news = pair->map.take_news(); news != 0) {
            log_warn("the kernel forwarded " + std::to_string(news) + " packets of pair " +
                     pair->name + " that the box did not get");
        }
    }
}

KernelPortStats KernelBridge::stats(std::string_view pair, std::string_view side) const {
    const auto found = std::find_if(pairs_.begin(), pairs_.end(),
                                    [&](const auto& one) { return one->name == pair; });
    if (found == pairs_.end()) {
        return {};
    }
    const Pair& of = **found;
    const std::size_t index = side == "outside" ? 0 : 1;
    const std::uint64_t beat = of.map.last_beat();
    const std::uint64_t now = monotonic_now();
    const sluice_port_counts counts = of.map.counts(index);
    return {.attached =
                of.programs[index]->index() == ::if_nametoindex(of.places[index].interface.c_str()),
            .native = of.programs[index]->is_native(),
            .fail_open = of.options.fail == KernelFail::Open,
            .program = of.programs[index]->id(),
            .heartbeat_ns = static_cast<std::uint64_t>(of.options.heartbeat.count()),
            .beat_age_ns = now - std::min(now, beat),
            .bridged_packets = counts.bridged_packets,
            .bridged_bytes = counts.bridged_bytes,
            .dropped_packets = counts.dropped_packets,
            .dropped_bytes = counts.dropped_bytes};
}

}  // namespace sluice
