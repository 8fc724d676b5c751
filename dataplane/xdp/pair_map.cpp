#include "dataplane/xdp/pair_map.hpp"

#include "dataplane/xdp/kernel_refusal.hpp"

#include <utility>

#include <bpf/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::uint64_t kEnded = 1;  // an instant long ago

// Reads a word that programs write meanwhile.
std::uint64_t read_shared(const __u64& word) noexcept {
    return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

sluice_pair_state* map_memory(int fd) {
    void* const at =
        ::mmap(nullptr, sizeof(sluice_pair_state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? nullptr : static_cast<sluice_pair_state*>(at);
}

bool has_our_shape(int fd) {
    bpf_map_info info{};
    std::uint32_t size = sizeof(info);
    return bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && info.type == BPF_MAP_TYPE_ARRAY &&
           info.value_size == sizeof(sluice_pair_state) && info.max_entries == 1 &&
           (info.map_flags & BPF_F_MMAPABLE) != 0;
}

}  // namespace

Result<PairMap> PairMap::open(const std::string& folder, const KernelOptions& kernel) {
    const std::string path = folder + "/state";
    PairMap made;
    made.fd_ = Fd{bpf_obj_get(path.c_str())};
    if (made.fd_.is_open() && has_our_shape(made.fd_.get())) {
        made.state_ = map_memory(made.fd_.get());
    }
    if (made.state_ == nullptr || read_shared(made.state_->layout) != SLUICE_PAIR_LAYOUT) {
        made = PairMap{};
        (void)::unlink(path.c_str());
        bpf_map_create_opts options{};
        options.sz = sizeof(options);
        options.map_flags = BPF_F_MMAPABLE;
        made.fd_ = Fd{bpf_map_create(BPF_MAP_TYPE_ARRAY, "pair_state", sizeof(std::uint32_t),
                                     sizeof(sluice_pair_state), 1, &options)};
        made.state_ = made.fd_.is_open() ? map_memory(made.fd_.get()) : nullptr;
        if (made.state_ == nullptr || bpf_obj_pin(made.fd_.get(), path.c_str()) != 0) {
            return kernel_refusal("a map at " + path);
        }
        made.state_->layout = SLUICE_PAIR_LAYOUT;
    }
    made.state_->heartbeat = static_cast<std::uint64_t>(kernel.heartbeat.count());
    made.state_->fail_open = kernel.fail == KernelFail::Open ? 1 : 0;
    return made;
}

PairMap::~PairMap() {
    if (state_ != nullptr) {
        (void)::munmap(state_, sizeof(*state_));
    }
}

PairMap::PairMap(PairMap&& other) noexcept
    : fd_{std::move(other.fd_)}, state_{std::exchange(other.state_, nullptr)} {}

PairMap& PairMap::operator=(PairMap&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(state_, other.state_);
    return *this;
}

void PairMap::beat(std::uint64_t now) noexcept {
    __atomic_store_n(&state_->beat, now, __ATOMIC_RELAXED);
}

// One that never beat stays one: nothing has passed before the rules were in force.
void PairMap::end() noexcept {
    if (last_beat() != 0) {
        beat(kEnded);
    }
}

std::uint64_t PairMap::last_beat() const noexcept {
    return read_shared(state_->beat);
}

std::uint64_t PairMap::take_news() noexcept {
    const std::uint64_t all = counts(0).bridged_packets + counts(1).bridged_packets;
    return all - std::exchange(state_->told, all);
}

sluice_port_counts PairMap::counts(std::size_t side) const noexcept {
    const sluice_port_counts& counts = state_->ports[side];
    sluice_port_counts copy{};
    copy.bridged_packets = read_shared(counts.bridged_packets);
    copy.bridged_bytes = read_shared(counts.bridged_bytes);
    copy.dropped_packets = read_shared(counts.dropped_packets);
    copy.dropped_bytes = read_shared(counts.dropped_bytes);
    copy.managed_packets = read_shared(counts.managed_packets);
    copy.managed_refused = read_shared(counts.managed_refused);
    return copy;
}

}  // namespace sluice
