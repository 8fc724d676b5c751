#include "dataplane/xdp/port_program.hpp"

#include "dataplane/xdp/kernel_refusal.hpp"
#include "dataplane/xdp/left_behind.hpp"
#include "dataplane/xdp/port_maps.h"
#include "lib/wire/fd.hpp"

#include <cstring>
#include <memory>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <unistd.h>

#include "port.skel.h"

namespace sluice {
namespace {

struct Destroy {
    void operator()(sluice_port* program) const noexcept { sluice_port__destroy(program); }
    void operator()(bpf_link* link) const noexcept { (void)bpf_link__destroy(link); }
};
using Loaded = std::unique_ptr<sluice_port, Destroy>;
using Link = std::unique_ptr<bpf_link, Destroy>;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kBurst = kSecond / 10;  // of management: what its rate gives in that time

// Before the program is loaded: what it will not use is left out of it.
bool choose_parts(const PortPlace& place, sluice_port& program) {
    program.rodata->side = static_cast<std::uint32_t>(place.side);
    if (place.management) {
        program.rodata->has_management = 1;
        program.rodata->management_gap = kSecond / place.management->rate;
        program.rodata->management_burst = kBurst;
    }
    if (bpf_map__reuse_fd(program.maps.pair_state, place.pair_map) != 0) {
        return false;
    }
    if (place.early_networks < 0) {
        return bpf_map__set_max_entries(program.maps.early_counts, 1) == 0;
    }
    program.rodata->drops_early = 1;
    return bpf_map__reuse_fd(program.maps.early_drop, place.early_networks) == 0 &&
           bpf_map__reuse_fd(program.maps.early_counts, place.early_counts) == 0;
}

bool allow_management(const ManagementOptions& management, const sluice_port& program) {
    const std::uint8_t yes = 1;
    bool done = true;
    for (const VersionedAddress& one : management.to) {
        sluice_address to{};
        to.version = static_cast<std::uint32_t>(one.version);
        std::memcpy(to.bytes, one.address.bytes.data(), sizeof(to.bytes));
        done = done && bpf_map__update_elem(program.maps.management_to, &to, sizeof(to), &yes,
                                            sizeof(yes), BPF_ANY) == 0;
    }
    for (const ManagedService& one : management.allow) {
        const std::uint32_t service = std::uint32_t{one.proto} << 16 | one.port;
        done = done && bpf_map__update_elem(program.maps.management_allow, &service,
                                            sizeof(service), &yes, sizeof(yes), BPF_ANY) == 0;
    }
    return done;
}

Result<Loaded> load(const PortPlace& place, std::uint32_t peer_index) {
    (void)libbpf_set_print(nullptr);
    Loaded program{sluice_port__open()};
    if (!program) {
        return kernel_refusal("to read the program of ports");
    }
    if (!choose_parts(place, *program) || sluice_port__load(program.get()) != 0) {
        return kernel_refusal("the program of " + place.interface);
    }
    if (place.management && !allow_management(*place.management, *program)) {
        return kernel_refusal("what `management` allows at " + place.interface);
    }
    const std::uint32_t first = 0;
    if (bpf_map__update_elem(program->maps.peer, &first, sizeof(first), &peer_index,
                             sizeof(peer_index), BPF_ANY) != 0) {
        return kernel_refusal("to forward from " + place.interface + " to " + place.peer);
    }
    return program;
}

bool leads_to(const bpf_link* link, unsigned index) {
    bpf_link_info info{};
    std::uint32_t size = sizeof(info);
    return bpf_obj_get_info_by_fd(bpf_link__fd(link), &info, &size) == 0 &&
           info.type == BPF_LINK_TYPE_XDP && info.xdp.ifindex == index;
}

bool is_as_wanted(KernelMode mode, unsigned index) {
    return mode == KernelMode::Auto || program_at(index).native == (mode == KernelMode::Native);
}

std::uint32_t attach_flags(KernelMode mode) {
    switch (mode) {
        case KernelMode::Native:
            return XDP_FLAGS_DRV_MODE;
        case KernelMode::Generic:
            return XDP_FLAGS_SKB_MODE;
        default:
            return 0;
    }
}

Result<Link> new_link(const PortPlace& place, const bpf_program* program, unsigned index,
                      const std::string& path) {
    bpf_link_create_opts options{};
    options.sz = sizeof(options);
    options.flags = attach_flags(place.mode);
    const Fd made{
        bpf_link_create(bpf_program__fd(program), static_cast<int>(index), BPF_XDP, &options)};
    if (!made.is_open()) {
        return kernel_refusal("the program at " + place.interface +
                              "; `ip link show` says whether another one is there, and `mode` of "
                              "`kernel` where it is to stand");
    }
    Link link{bpf_obj_pin(made.get(), path.c_str()) == 0 ? bpf_link__open(path.c_str()) : nullptr};
    if (!link) {
        return kernel_refusal("a pin at " + path);
    }
    return link;
}

// The link of the box before, under which the program is exchanged; else a new one. The kernel has
// no program at two places of an interface: where it is to stand elsewhere, that of before goes
// first.
Result<Link> link_program(const PortPlace& place, const bpf_program* program, unsigned index) {
    const std::string path = place.folder + (place.side == 0 ? "/outside" : "/inside");
    if (Link left{bpf_link__open(path.c_str())}; left && leads_to(left.get(), index)) {
        if (is_as_wanted(place.mode, index) &&
            bpf_link_update(bpf_link__fd(left.get()), bpf_program__fd(program), nullptr) == 0) {
            return left;
        }
        (void)bpf_link__detach(left.get());
    }
    (void)::unlink(path.c_str());
    return new_link(place, program, index, path);
}

}  // namespace

Result<PortProgram> PortProgram::attach(const PortPlace& place) {
    PortProgram made;
    made.index_ = ::if_nametoindex(place.interface.c_str());
    made.peer_index_ = ::if_nametoindex(place.peer.c_str());
    if (made.index_ == 0 || made.peer_index_ == 0) {
        return Error{Errc::NotSupported,
                     "there is no interface " + (made.index_ == 0 ? place.interface : place.peer)};
    }
    const Result<Loaded> program = load(place, made.peer_index_);
    if (!program) {
        return program.error();
    }
    Result<Link> link = link_program(place, (*program)->progs.xsk_def_prog, made.index_);
    if (!link) {
        return link.error();
    }
    made.link_ = link->release();
    const KernelProgram seen = program_at(made.index_);
    made.id_ = seen.id;
    made.native_ = seen.native;
    return made;
}

// The pin holds the link.
PortProgram::~PortProgram() {
    (void)bpf_link__destroy(link_);
}

PortProgram::PortProgram(PortProgram&& other) noexcept
    : link_{std::exchange(other.link_, nullptr)},
      index_{other.index_},
      peer_index_{other.peer_index_},
      id_{other.id_},
      native_{other.native_} {}

PortProgram& PortProgram::operator=(PortProgram&& other) noexcept {
    std::swap(link_, other.link_);
    index_ = other.index_;
    peer_index_ = other.peer_index_;
    id_ = other.id_;
    native_ = other.native_;
    return *this;
}

}  // namespace sluice
