#include "control/cli/interface_programs.hpp"

#include "control/cli/link_dump.hpp"
#include "control/cli/pair_state.hpp"
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
    LinkDump links;
    alignas(nlmsghdr) std::array<std::byte, 65'536> bytes{};
    for (auto after = LinkDump::After::MoreCome; after == LinkDump::After::MoreCome;) {
        // The kernel tells the length of an answer that does not fit too, and its end is missing.
        const ssize_t got = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_TRUNC);
        if (got <= 0) {
            return kernel_refuses("to tell of its interfaces");
        }
        if (static_cast<std::size_t>(got) > bytes.size()) {
            return Error{Errc::TooMany, "the kernel's list of interfaces is cut"};
        }
        const Result<LinkDump::After> read =
            links.read(ByteView{bytes}.first(static_cast<std::size_t>(got)));
        if (!read) {
            return read.error();
        }
        after = *read;
    }
    for (InterfaceProgram& one : links.found()) {
        identify(one);
    }
    return std::move(links.found());
}

}  // namespace sluice
