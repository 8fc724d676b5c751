#include "lib/confine/confine.hpp"

#include "lib/base/system_user.hpp"
#include "lib/confine/every_thread.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <cap-ng.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {
namespace {

Error refused(const std::string& what, int error) {
    return {Errc::Refused, what + ": " + std::strerror(error)};
}

constexpr auto kRefusedCalls = std::to_array<int>({
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(move_mount),
    SCMP_SYS(open_tree),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsmount),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(reboot),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(iopl),
    SCMP_SYS(ioperm),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(keyctl),
    SCMP_SYS(acct),
    SCMP_SYS(quotactl),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(syslog),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(name_to_handle_at),
    SCMP_SYS(kcmp),
    SCMP_SYS(personality),
    SCMP_SYS(vhangup),
});
#if !defined(__SANITIZE_ADDRESS__)  // whose search for leaks traces its own threads
constexpr auto kRefusedTracing = std::to_array<int>({SCMP_SYS(ptrace)});
#else
constexpr std::array<int, 0> kRefusedTracing{};
#endif
constexpr auto kRefusedPrograms = std::to_array<int>({SCMP_SYS(execve), SCMP_SYS(execveat)});

int refuse_all(scmp_filter_ctx filter, std::span<const int> calls) {
    for (const int call : calls) {
        if (const int failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
            failed != 0 && failed != -EDOM) {  // EDOM: this architecture has no such call
            return failed;
        }
    }
    return 0;
}

int load(scmp_filter_ctx filter, Programs programs) {
    int failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    failed = failed != 0 ? failed : refuse_all(filter, kRefusedCalls);
    failed = failed != 0 ? failed : refuse_all(filter, kRefusedTracing);
    if (failed == 0 && programs == Programs::No) {
        failed = refuse_all(filter, kRefusedPrograms);
    }
    return failed != 0 ? failed : seccomp_load(filter);
}

int load_networks(scmp_filter_ctx filter) {
    int failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    for (const int family : {AF_INET, AF_INET6, AF_PACKET}) {
        failed = failed != 0 ? failed
                             : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
                                                SCMP_A0_32(SCMP_CMP_EQ, family));
    }
    return failed != 0 ? failed : seccomp_load(filter);
}

template <typename FillAndLoad>
Result<Done> load_filter(const FillAndLoad& fill_and_load) {
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter == nullptr) {
        return Error{Errc::TooMany, "there is no memory for a list of system calls"};
    }
    const int failed = fill_and_load(filter);
    seccomp_release(filter);
    if (failed != 0) {
        return refused("the kernel takes no list of system calls", -failed);
    }
    return Done{};
}

}  // namespace

Result<Done> become_user(const std::string& user) {
    const Result<SystemUser> found = user_named(user);
    if (!found) {
        return found.error();
    }
    if (::geteuid() == found->uid) {
        return Done{};
    }
    capng_clear(CAPNG_SELECT_BOTH);
    const int failed =
        capng_change_id(static_cast<int>(found->uid), static_cast<int>(found->gid),
                        static_cast<capng_flags_t>(CAPNG_INIT_SUPP_GRP | CAPNG_CLEAR_BOUNDING));
    if (failed != 0 || ::geteuid() != found->uid) {
        return refused("cannot run as " + user, errno);
    }
    return Done{};
}

Result<Done> keep_capabilities(std::span<const unsigned> capabilities) {
    CapabilityMask mask = 0;
    for (const unsigned capability : capabilities) {
        mask |= CapabilityMask{1} << capability;
    }
    return on_every_thread(mask);
}

Result<Done> refuse_system_calls(Programs programs) {
    return load_filter([&](scmp_filter_ctx filter) { return load(filter, programs); });
}

Result<Done> refuse_networks() {
    return load_filter(load_networks);
}

}  // namespace sluice
