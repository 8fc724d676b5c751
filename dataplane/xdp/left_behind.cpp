#include "dataplane/xdp/left_behind.hpp"

#include "dataplane/xdp/kernel_refusal.hpp"
#include "lib/base/log.hpp"
#include "lib/base/read_file.hpp"
#include "lib/wire/fd.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <net/if.h>

namespace sluice {
namespace {

// The name and the map tell our program: libxdp's own has the same name, and not this map.
constexpr std::string_view kProgramName = "xsk_def_prog";
constexpr std::string_view kMapName = "pair_state";
constexpr std::string_view kDispatcherName = "xdp_dispatcher";
constexpr std::uint32_t kMostMaps = 32;

template <class Info>
std::optional<Info> info_of(const Fd& object, Info info = {}) {
    std::uint32_t size = sizeof(info);
    return object.is_open() && bpf_obj_get_info_by_fd(object.get(), &info, &size) == 0
               ? std::optional{info}
               : std::nullopt;
}

bool is_ours(std::uint32_t program) {
    std::array<std::uint32_t, kMostMaps> maps{};
    bpf_prog_info asked{};
    asked.nr_map_ids = kMostMaps;
    asked.map_ids = reinterpret_cast<std::uintptr_t>(maps.data());
    const auto found = info_of(Fd{bpf_prog_get_fd_by_id(program)}, asked);
    if (!found || kProgramName != found->name) {
        return false;
    }
    for (std::uint32_t i = 0; i < std::min(found->nr_map_ids, kMostMaps); ++i) {
        const auto map = info_of<bpf_map_info>(Fd{bpf_map_get_fd_by_id(maps[i])});
        if (map && kMapName == map->name) {
            return true;
        }
    }
    return false;
}

// The link by which a program is at an interface.
Fd link_of(std::uint32_t program) {
    std::uint32_t id = 0;
    while (bpf_link_get_next_id(id, &id) == 0) {
        Fd link{bpf_link_get_fd_by_id(id)};
        const auto info = info_of<bpf_link_info>(link);
        if (info && info->type == BPF_LINK_TYPE_XDP && info->prog_id == program) {
            return link;
        }
    }
    return Fd{};
}

std::string name_of(std::uint32_t program) {
    const auto found = info_of<bpf_prog_info>(Fd{bpf_prog_get_fd_by_id(program)});
    return found ? found->name : "";
}

// The name of the program that stands in for a function of `dispatcher`, by the link that keeps it
// there; empty: the link does something else.
std::string stand_in(const Fd& link, std::uint32_t dispatcher) {
    const auto info = info_of<bpf_link_info>(link);
    if (!info || info->type != BPF_LINK_TYPE_TRACING || info->tracing.target_obj_id != dispatcher) {
        return {};
    }
    const auto program = info_of<bpf_prog_info>(Fd{bpf_prog_get_fd_by_id(info->prog_id)});
    return program && program->type == BPF_PROG_TYPE_EXT ? program->name : "";
}

std::uint32_t id_of_link(const Fd& link) {
    const auto info = info_of<bpf_link_info>(link);
    return info ? info->id : 0;
}

std::uint32_t link_pinned_at(const std::string& path) {
    return id_of_link(Fd{bpf_obj_get(path.c_str())});
}

// Every mount of the file system for programs, one after the other.
std::vector<std::string> mounts_for_pins() {
    std::vector<std::string> found;
    std::ifstream mounts{"/proc/self/mounts"};
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words{line};
        std::string device;
        std::string path;
        std::string type;
        if (words >> device >> path >> type && type == "bpf") {
            found.push_back(path);
        }
    }
    return found;
}

// The folder of the pair that has a link pinned (pins.hpp: MOUNT/sluice/STATE_DIR/PAIR), or empty.
std::string folder_of(std::uint32_t link) {
    for (const std::string& mount : mounts_for_pins()) {
        const std::string boxes = mount + "/sluice";
        for (const std::string& box : names_in(boxes)) {
            for (const std::string& pair : names_in(boxes + "/" + box)) {
                const std::string folder = boxes + "/" + box + "/" + pair;
                if (link_pinned_at(folder + "/outside") == link ||
                    link_pinned_at(folder + "/inside") == link) {
                    return folder;
                }
            }
        }
    }
    return {};
}

void remove_folder(const std::string& folder) {
    for (const char* side : {"/outside", "/inside"}) {
        if (const Fd link{bpf_obj_get((folder + side).c_str())}; link.is_open()) {
            (void)bpf_link_detach(link.get());
        }
    }
    std::error_code error;
    const std::filesystem::path path{folder};
    std::filesystem::remove_all(path, error);
    // Only if they are empty: boxes share them.
    std::filesystem::remove(path.parent_path(), error);
    std::filesystem::remove(path.parent_path().parent_path(), error);
}

}  // namespace

KernelProgram program_at(unsigned index) {
    bpf_xdp_query_opts seen{};
    seen.sz = sizeof(seen);
    if (index == 0 || bpf_xdp_query(static_cast<int>(index), 0, &seen) != 0) {
        return {};
    }
    return {.id = seen.attach_mode == XDP_ATTACHED_SKB ? seen.skb_prog_id : seen.drv_prog_id,
            .native = seen.attach_mode == XDP_ATTACHED_DRV};
}

ProgramOwner owner_of(const KernelProgram& program) {
    if (program.id == 0) {
        return ProgramOwner::Nobody;
    }
    if (is_ours(program.id)) {
        return ProgramOwner::Sluice;
    }
    return owner_by_name(name_of(program.id), dispatched_by(program));
}

ProgramOwner owner_by_name(std::string_view name, const std::vector<std::string>& dispatched) {
    const auto is_sockets = [](std::string_view one) { return one == kProgramName; };
    const bool all =
        !dispatched.empty() && std::all_of(dispatched.begin(), dispatched.end(), is_sockets);
    return is_sockets(name) || (name == kDispatcherName && all) ? ProgramOwner::Sockets
                                                                : ProgramOwner::Other;
}

std::vector<std::string> dispatched_by(const KernelProgram& program) {
    std::vector<std::string> names;
    if (program.id == 0 || name_of(program.id) != kDispatcherName) {
        return names;
    }
    std::uint32_t id = 0;
    while (bpf_link_get_next_id(id, &id) == 0) {
        std::string name = stand_in(Fd{bpf_link_get_fd_by_id(id)}, program.id);
        if (!name.empty()) {
            names.push_back(std::move(name));
        }
    }
    return names;
}

Result<Done> remove_left_behind(const std::string& interface, const std::string& keep) {
    const unsigned index = ::if_nametoindex(interface.c_str());
    const KernelProgram found = program_at(index);
    if (owner_of(found) != ProgramOwner::Sluice) {
        return Done{};
    }
    const Fd link = link_of(found.id);
    const std::uint32_t id = id_of_link(link);
    if (id != 0 && !keep.empty() && link_pinned_at(keep) == id) {
        return Done{};
    }
    const std::string folder = id == 0 ? "" : folder_of(id);
    if (link.is_open()) {
        (void)bpf_link_detach(link.get());
    }
    if (!folder.empty()) {
        remove_folder(folder);
    }
    if (program_at(index).id == found.id) {
        return kernel_refusal("to take the program of an earlier dataplane off " + interface +
                              ", which forwards by itself; `sluice-dataplane --forget` with the "
                              "configuration of that one removes it");
    }
    log_warn("took a program that an earlier dataplane had left in the kernel off " + interface +
             (folder.empty() ? std::string{} : " (pinned in " + folder + ")"));
    return Done{};
}

}  // namespace sluice
