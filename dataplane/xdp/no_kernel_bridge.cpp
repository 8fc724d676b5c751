#include "dataplane/xdp/kernel_bridge.hpp"

// The bridge of a build without libbpf, clang or bpftool.
namespace sluice {

struct KernelBridge::Pair {};

KernelBridge::KernelBridge() = default;
KernelBridge::~KernelBridge() = default;

Result<std::unique_ptr<KernelBridge>> KernelBridge::attach(const BoxConfig& box) {
    if (box.kernel) {
        return Error{Errc::NotSupported,
                     "this sluice-dataplane was built without `kernel`: it takes libbpf, clang and "
                     "bpftool, and the option -Dxdp"};
    }
    return std::unique_ptr<KernelBridge>{};
}

void KernelBridge::beat(std::uint64_t) noexcept {}
void KernelBridge::end() noexcept {}
void KernelBridge::watch(const TellBridged&) {}
void KernelBridge::drop_early(std::shared_ptr<const LoadedRules>) {}
bool KernelBridge::asks_for_bans() const noexcept {
    return false;
}
void KernelBridge::note_ban(const NewBan&) {}
void KernelBridge::lose_bans(std::uint64_t) {}
void KernelBridge::lift(ByteView) {}
bool KernelBridge::is_off_time() const {
    return false;
}
std::uint64_t KernelBridge::early_dropped(std::uint32_t) const {
    return 0;
}
void KernelBridge::find_drops(const FindEarlyDrops&, FoundEarlyDrops&) const {}
KernelPortStats KernelBridge::stats(std::string_view, std::string_view) const {
    return {};
}

}  // namespace sluice
