#include "dataplane/xdp/kernel_bridge.hpp"

#include "dataplane/port/netdev.hpp"
#include "dataplane/xdp/bridge_pair.hpp"
#include "dataplane/xdp/left_behind.hpp"
#include "dataplane/xdp/monotonic_now.hpp"
#include "dataplane/xdp/pins.hpp"
#include "lib/base/device_text.hpp"
#include "lib/base/log.hpp"
#include "lib/packet/field.hpp"
#include "lib/rules/kernel_pairs.hpp"

#include <algorithm>
#include <utility>

#include <net/if.h>

namespace sluice {

namespace {

constexpr std::uint64_t kTellEvery = 1'000'000'000;
// Ends of bans at a port that one turn of the main loop looks at: what two system calls take each.
constexpr std::size_t kMostEnded = 1024;
// Both clocks are read one after the other, and may be slewed.
constexpr Nanoseconds kClockSlack = std::chrono::milliseconds{50};
// Bans that were told under rules which are not here yet.
constexpr std::size_t kMostUnmet = NewBans::kRingSize;

bool is_af_xdp(const PortConfig& port) {
    return port.device.starts_with("net_af_xdp");
}

bool is_where_it_was(const PortPlace& place, const std::optional<PortProgram>& program) {
    const unsigned index = ::if_nametoindex(place.interface.c_str());
    const unsigned peer = ::if_nametoindex(place.peer.c_str());
    // Nothing can be attached to an interface that is gone until it returns.
    return index == 0 || peer == 0 ||
           (program && program->index() == index && program->peer_index() == peer);
}

std::string dispatched_text(const KernelProgram& dispatcher) {
    std::string text;
    for (const std::string& name : dispatched_by(dispatcher)) {
        text += (text.empty() ? "; it is libxdp's dispatcher, with " : ", ") + name;
    }
    return text;
}

// A program of others takes frames before the port. The log says it; at a port of af_xdp, an Error:
// none can stand beside that of the port, and the driver would take the other one away as it fails.
Result<Done> check_other_program(const std::string& interface, const PortConfig& port,
                                 bool has_ours) {
    const unsigned index = ::if_nametoindex(interface.c_str());
    const KernelProgram there = program_at(index);
    const ProgramOwner owner = owner_of(there);
    const bool is_drivers = owner == ProgramOwner::Sockets && is_af_xdp(port) && !has_ours;
    if (owner == ProgramOwner::Nobody || owner == ProgramOwner::Sluice || is_drivers) {
        return Done{};
    }
    const std::string what =
        other_program_text(interface, there.id, there.native) + dispatched_text(there);
    if (is_af_xdp(port)) {
        return Error{Errc::Refused, what + "; net_af_xdp needs its place"};
    }
    log_warn(what);
    return Done{};
}

// Programs that a process before this one, with another configuration, has left at the interfaces
// of this one would take their frames before any port, and forward them unjudged.
Result<Done> remove_programs_left(const BoxConfig& box) {
    for (const PairConfig& pair : box.pairs) {
        const std::string folder = has_program(box, pair) ? pins_of_pair(box, pair.name) : "";
        for (const PortConfig* port : {&pair.outside, &pair.inside}) {
            const char* const side = port == &pair.outside ? "/outside" : "/inside";
            for (const std::string& interface : interfaces_of(port->device)) {
                const Result<Done> done =
                    remove_left_behind(interface, folder.empty() ? "" : folder + side);
                const Result<Done> alone =
                    done ? check_other_program(interface, *port, !folder.empty()) : done;
                if (!alone) {
                    return alone.error();
                }
            }
        }
    }
    return Done{};
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

void KernelBridge::Pair::warn_of_veth() const {
    for (std::size_t side = 0; side < programs.size(); ++side) {
        if (programs[side]->is_native() && netdev_driver(places[side].interface) == "veth") {
            log_warn("what the kernel forwards to " + places[side].interface +
                     " is lost unless the other end of this veth has GRO (`ethtool -K END gro on`)"
                     " or a program of its own; with `kernel: {mode: generic}` it needs neither");
        }
    }
}

void KernelBridge::Pair::remove_ended(std::uint64_t now) {
    for (EarlyDropTable& table : tables) {
        table.remove_ended(now, kMostEnded);
    }
}

Result<Done> KernelBridge::Pair::attach_port(const PairConfig& config, std::size_t side,
                                             const BoxConfig& box, const std::string& folder) {
    const PortConfig& port = side == 0 ? config.outside : config.inside;
    const PortConfig& peer = side == 0 ? config.inside : config.outside;
    if (!device_argument(port.device, "xdp_prog").empty()) {
        return Error{Errc::Refused, port.device +
                                        " has a program of its own (`xdp_prog`), and "
                                        "`kernel` another one: take one of them out"};
    }
    if (options.early_drop != 0) {
        Result<EarlyDropTable> table = EarlyDropTable::make(options.early_drop);
        if (!table) {
            return table.error();
        }
        tables[side] = *std::move(table);
    }
    places[side] = {.interface = device_argument(port.device, "iface"),
                    .peer = device_argument(peer.device, "iface"),
                    .side = side,
                    .folder = folder,
                    .mode = options.mode,
                    .pair_map = map.fd(),
                    .early_networks = tables[side].networks_fd(),
                    .early_counts = tables[side].counts_fd(),
                    .management = box.management};
    Result<PortProgram> program = PortProgram::attach(places[side]);
    if (!program) {
        return program.error();
    }
    programs[side] = *std::move(program);
    return Done{};
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
    if (const Result<Done> done = remove_programs_left(box); !done) {
        return done.error();
    }
    if (!box.kernel) {
        return made;
    }
    made.reset(new KernelBridge);
    made->may_drop_early_ = may_drop_early(box);
    made->boxed_ = BoxedBans{box.kernel->early_drop};
    if (box.kernel->early_drop != 0 && !made->may_drop_early_) {
        log_warn(std::string{kNoEarlyDropText});
    }
    for (const PairConfig& pair : box.pairs) {
        if (!has_program(box, pair)) {
            log_warn(without_program_text(pair));
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
        if (const Result<Done> done = pair->attach_port(config, side, box, folder); !done) {
            return done.error();
        }
    }
    pair->warn_of_veth();
    pairs_.push_back(std::move(pair));
    return Done{};
}

void KernelBridge::beat(std::uint64_t at) noexcept {
    for (const auto& pair : pairs_) {
        pair->map.beat(at);
    }
}

void KernelBridge::watch(const TellBridged& tell) {
    const std::uint64_t now = monotonic_now();
    for (const auto& pair : pairs_) {
        pair->attach_again();
        pair->remove_ended(now);
        pair->untold += pair->map.take_news();
        if (pair->untold != 0 && (pair->box_decides(now) || now - pair->told_at > kTellEvery)) {
            pair->told_at = now;
            tell(pair->name, std::exchange(pair->untold, 0));
        }
    }
}

void KernelBridge::drop_early(std::shared_ptr<const LoadedRules> rules) {
    rules_ = may_drop_early_ ? std::move(rules) : nullptr;
    const ClockPair now = ClockPair::now();
    clock_lead_ = now.lead();
    has_ends_ = false;
    Pair::Droppable what{rules_.get()};
    if (rules_ != nullptr) {
        what.boxed = boxed_.carry_over(rules_->set(), now.monotonic);
    }
    for (const auto& pair : pairs_) {
        for (std::size_t side = 0; side < pair->tables.size(); ++side) {
            if (pair->tables[side].networks_fd() >= 0) {
                has_ends_ = pair->drop_early(side, what, now) || has_ends_;
            }
        }
    }
    const std::vector<NewBan> unmet = std::exchange(unmet_, {});
    for (const NewBan& ban : unmet) {
        if (rules_ == nullptr || ban.load == rules_->set().load) {
            note_ban(ban);
        }
    }
}

bool KernelBridge::Pair::drop_early(std::size_t side, const Droppable& what, const ClockPair& now) {
    proofs[side].reset();
    std::vector<EarlyDrop> drops;
    left_out[side] = 0;
    if (what.rules != nullptr) {
        const ReceivingPort port{port_name(name), side == 0 ? Direction::In : Direction::Out};
        proofs[side] = std::make_unique<EarlyDropProof>(what.rules->rules(), port);
        DroppedNetworks found = proofs[side]->networks(options.early_drop);
        for (const BoxedBans::Carried& ban : what.boxed) {
            const auto left = static_cast<std::int64_t>(ban.until - now.monotonic);
            const KeyBytes key = ban.key(what.rules->set());
            const auto network =
                proofs[side]->boxed(ban.rule, key.view(), now.utc + Nanoseconds{left});
            if (network) {
                found.networks.push_back(*network);
            }
        }
        drops = early_drops_of(found, what.rules->set(), now);
        left_out[side] = found.left_out;
    }
    left_out[side] += drops.size() - tables[side].publish(drops);
    return std::any_of(drops.begin(), drops.end(),
                       [](const EarlyDrop& one) { return one.drop.until != 0; });
}

bool KernelBridge::asks_for_bans() const noexcept {
    return may_drop_early_ && std::any_of(pairs_.begin(), pairs_.end(), [](const auto& pair) {
               return pair->options.early_drop != 0;
           });
}

void KernelBridge::lose_bans(std::uint64_t bans) {
    for (const auto& pair : pairs_) {
        for (std::size_t side = 0; side < pair->tables.size(); ++side) {
            pair->left_out[side] += pair->proofs[side] == nullptr ? 0 : bans;
        }
    }
}

void KernelBridge::note_ban(const NewBan& ban) {
    const std::optional<IpPrefix> source = source_of_key(ban.key());
    if (!source) {
        return;
    }
    if (rules_ == nullptr || ban.load != rules_->set().load) {
        if (unmet_.size() < kMostUnmet) {
            unmet_.push_back(ban);
        }
        return;
    }
    const ClockPair now = ClockPair::now();
    const LoadedLimit& box = rules_->set().rules[ban.rule].ban.boxes[0];
    // No ban is longer, also where somebody has set the clock since it was told.
    const Nanoseconds longest = now.utc + Nanoseconds{std::get<PenaltyLimit>(box.limit).lasts};
    const Nanoseconds until = std::min(ban.until, longest);
    if (until > now.utc) {
        const auto left = static_cast<std::uint64_t>((until - now.utc).count());
        boxed_.note({*source, box.identity}, now.monotonic + left, now.monotonic);
    }
    for (const auto& pair : pairs_) {
        for (std::size_t side = 0; side < pair->tables.size(); ++side) {
            const auto network = pair->proofs[side] == nullptr
                                     ? std::nullopt
                                     : pair->proofs[side]->boxed(ban.rule, ban.key(), until);
            if (!network) {
                continue;
            }
            for (const EarlyDrop& drop : early_drops_of({{*network}, 0}, rules_->set(), now)) {
                has_ends_ = true;
                pair->left_out[side] += pair->tables[side].add(drop, now.monotonic) ? 0 : 1;
            }
        }
    }
}

void KernelBridge::lift(ByteView key) {
    const std::optional<IpPrefix> source = source_of_key(key);
    if (!source) {
        return;
    }
    boxed_.lift(*source);
    std::erase_if(unmet_, [&](const NewBan& ban) { return source_of_key(ban.key()) == source; });
    for (const auto& pair : pairs_) {
        for (EarlyDropTable& table : pair->tables) {
            if (table.networks_fd() >= 0) {
                table.remove(network_of(*source));
            }
        }
    }
}

bool KernelBridge::is_off_time() const {
    const Nanoseconds moved = ClockPair::now().lead() - clock_lead_;
    return has_ends_ && (moved > kClockSlack || moved < -kClockSlack);
}

std::uint64_t KernelBridge::early_dropped(std::uint32_t row) const {
    std::uint64_t packets = 0;
    for (const auto& pair : pairs_) {
        for (const EarlyDropTable& table : pair->tables) {
            packets += table.networks_fd() < 0 ? 0 : table.count(row).packets;
        }
    }
    return packets;
}

bool KernelBridge::Pair::is_attached(std::size_t side) const {
    const KernelProgram there = program_at(::if_nametoindex(places[side].interface.c_str()));
    return there.id != 0 && there.id == programs[side]->id();
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
    return {.attached = of.is_attached(index),
            .native = of.programs[index]->is_native(),
            .fail_open = of.options.fail == KernelFail::Open,
            .program = of.programs[index]->id(),
            .heartbeat_ns = static_cast<std::uint64_t>(of.options.heartbeat.count()),
            .beat_age_ns = now - std::min(now, beat),
            .bridged_packets = counts.bridged_packets,
            .bridged_bytes = counts.bridged_bytes,
            .dropped_packets = counts.dropped_packets,
            .dropped_bytes = counts.dropped_bytes,
            .early_capacity = of.options.early_drop,
            .early_networks = of.tables[index].size(),
            .early_left_out = of.left_out[index],
            .managed_packets = counts.managed_packets,
            .managed_refused = counts.managed_refused};
}

}  // namespace sluice
