#include "control/cli/interface_programs.hpp"

#include "lib/wire/fd.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>

#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {
namespace {

Error kernel_refuses(const std::string& what) {
    return {Errc::Refused, "the kernel refuses " + what + ": " + std::strerror(errno)};
}

// Attributes one after the other, each with what it holds.
template <typename Take>
void for_each_attribute(const rtattr* at, std::size_t left, Take&& take) {
    while (left >= sizeof(*at) && at->rta_len >= sizeof(*at) && at->rta_len <= left) {
        take(at->rta_type & NLA_TYPE_MASK, reinterpret_cast<const char*>(at) + RTA_LENGTH(0),
             at->rta_len - RTA_LENGTH(0));
        const std::size_t step = std::min<std::size_t>(RTA_ALIGN(at->rta_len), left);
        at = reinterpret_cast<const rtattr*>(reinterpret_cast<const char*>(at) + step);
        left -= step;
    }
}

std::uint32_t number_in(const char* value, std::size_t size) {
    std::uint32_t number = 0;
    std::memcpy(&number, value, std::min(size, sizeof(number)));
    return number;
}

// One interface, as the kernel tells of it; `program` 0: it has none.
InterfaceProgram read_link(const nlmsghdr& message) {
    InterfaceProgram found;
    const char* const first =
        reinterpret_cast<const char*>(&message) + NLMSG_SPACE(sizeof(ifinfomsg));
    const std::size_t size = message.nlmsg_len - NLMSG_SPACE(sizeof(ifinfomsg));
    for_each_attribute(reinterpret_cast<const rtattr*>(first), size,
                       [&](int type, const char* value, std::size_t length) {
                           if (type == IFLA_IFNAME) {
                               found.interface.assign(value, ::strnlen(value, length));
                           } else if (type == IFLA_XDP) {
                               for_each_attribute(
                                   reinterpret_cast<const rtattr*>(value), length,
                                   [&](int part, const char* held, std::size_t bytes) {
                                       if (part == IFLA_XDP_PROG_ID) {
                                           found.program = number_in(held, bytes);
                                       } else if (part == IFLA_XDP_ATTACHED) {
                                           found.native =
                                               number_in(held, std::min<std::size_t>(bytes, 1)) ==
                                               XDP_ATTACHED_DRV;
                                       }
                                   });
                           }
                       });
    return found;
}

// Reads the messages of a dump, one after the other; true: there are no more.
bool read_links(const char* bytes, std::size_t size, std::vector<InterfaceProgram>& found) {
    while (size >= sizeof(nlmsghdr)) {
        const auto& message = *reinterpret_cast<const nlmsghdr*>(bytes);
        if (message.nlmsg_len < sizeof(nlmsghdr) || message.nlmsg_len > size ||
            message.nlmsg_type == NLMSG_DONE || message.nlmsg_type == NLMSG_ERROR) {
            return true;
        }
        if (message.nlmsg_type == RTM_NEWLINK &&
            message.nlmsg_len >= NLMSG_SPACE(sizeof(ifinfomsg))) {
            if (InterfaceProgram one = read_link(message); one.program != 0) {
                found.push_back(std::move(one));
            }
        }
        const std::size_t step = std::min<std::size_t>(NLMSG_ALIGN(message.nlmsg_len), size);
        bytes += step;
        size -= step;
    }
    return false;
}

// bpf(2), of which the library is the dataplane's alone.
template <typename Attributes>
int bpf_call(bpf_cmd command, Attributes& attributes) {
    return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof(attributes)));
}

Fd object_of(bpf_cmd command, std::uint32_t id) {
    bpf_attr asked{};
    asked.prog_id = id;  // of a map, map_id: one place in the union
    return Fd{bpf_call(command, asked)};
}

template <typename Info>
bool info_of(const Fd& object, Info& info) {
    bpf_attr asked{};
    asked.info.bpf_fd = static_cast<std::uint32_t>(object.get());
    asked.info.info_len = sizeof(info);
    asked.info.info = reinterpret_cast<std::uintptr_t>(&info);
    return object.is_open() && bpf_call(BPF_OBJ_GET_INFO_BY_FD, asked) == 0;
}

// The beginning of sluice_pair_state (dataplane/xdp/pair_state.h), which the program goes by.
struct PairState {
    static constexpr std::uint64_t kLayout = 2;
    std::uint64_t layout = 0;
    std::uint64_t beat = 0;
    std::uint64_t heartbeat = 0;
    std::uint64_t fail_open = 0;
};
constexpr std::string_view kPairMap = "pair_state";

std::optional<PairState> state_in(const Fd& map, std::size_t size) {
    std::vector<char> value(std::max(size, sizeof(PairState)));
    const std::uint32_t first = 0;
    bpf_attr asked{};
    asked.map_fd = static_cast<std::uint32_t>(map.get());
    asked.key = reinterpret_cast<std::uintptr_t>(&first);
    asked.value = reinterpret_cast<std::uintptr_t>(value.data());
    PairState state;
    if (bpf_call(BPF_MAP_LOOKUP_ELEM, asked) != 0) {
        return std::nullopt;
    }
    std::memcpy(&state, value.data(), sizeof(state));
    return state.layout == PairState::kLayout ? std::optional{state} : std::nullopt;
}

InterfaceProgram::Does does_by(const PairState& state) {
    timespec now{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &now);
    const std::uint64_t ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                             static_cast<std::uint64_t>(now.tv_nsec);
    if (state.beat != 0 && ns < state.beat + state.heartbeat) {
        return InterfaceProgram::Does::AsksTheBox;
    }
    return state.beat != 0 && state.fail_open != 0 ? InterfaceProgram::Does::BridgesFrames
                                                   : InterfaceProgram::Does::DropsFrames;
}

// Finds the owner of a program by its maps.
void identify(InterfaceProgram& one) {
    std::array<std::uint32_t, 32> maps{};
    bpf_prog_info info{};
    info.nr_map_ids = maps.size();
    info.map_ids = reinterpret_cast<std::uintptr_t>(maps.data());
    if (!info_of(object_of(BPF_PROG_GET_FD_BY_ID, one.program), info)) {
        return;
    }
    one.name = info.name;
    one.does = InterfaceProgram::Does::Other;
    for (std::size_t i = 0; i < std::min<std::size_t>(info.nr_map_ids, maps.size()); ++i) {
        bpf_map_info map_info{};
        const Fd map = object_of(BPF_MAP_GET_FD_BY_ID, maps[i]);
        if (info_of(map, map_info) && map_info.name == kPairMap) {
            const std::optional<PairState> state = state_in(map, map_info.value_size);
            one.does = state ? does_by(*state) : InterfaceProgram::Does::Unknown;
        }
    }
}

}  // namespace

Result<std::vector<InterfaceProgram>> interface_programs() {
    const Fd socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
    struct {
        nlmsghdr head{};
        ifinfomsg link{};
    } asked;
    asked.head.nlmsg_len = sizeof(asked);
    asked.head.nlmsg_type = RTM_GETLINK;
    asked.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    if (!socket.is_open() || ::send(socket.get(), &asked, sizeof(asked), 0) != sizeof(asked)) {
        return kernel_refuses("to tell of its interfaces");
    }
    std::vector<InterfaceProgram> found;
    alignas(nlmsghdr) std::array<char, 65'536> bytes{};
    for (bool done = false; !done;) {
        const ssize_t got = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
        if (got <= 0) {
            return kernel_refuses("to tell of its interfaces");
        }
        done = read_links(bytes.data(), static_cast<std::size_t>(got), found);
    }
    for (InterfaceProgram& one : found) {
        identify(one);
    }
    return found;
}

}  // namespace sluice
