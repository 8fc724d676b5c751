#pragma once
#include "dataplane/xdp/early_drop_table.hpp"
#include "dataplane/xdp/pair_map.hpp"
#include "dataplane/xdp/port_program.hpp"
#include "lib/packet/ip_address.hpp"
#include "lib/wire/fd.hpp"
#include "tests/packets/frame.hpp"

#include <bpf/bpf.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace sluice::test {

// A mount for pins, in namespaces of this process; it goes with the object.
class PinsMount {
public:
    PinsMount() {
        static const bool apart = ::unshare(CLONE_NEWNET | CLONE_NEWNS) == 0 &&
                                  ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
        std::filesystem::create_directories(folder_);
        if (!apart || ::mount("bpf", folder_.c_str(), "bpf", 0, nullptr) != 0) {
            throw std::runtime_error("no place for pins: " + std::string{std::strerror(errno)});
        }
    }
    ~PinsMount() {
        ::umount2(folder_.c_str(), MNT_DETACH);
        std::filesystem::remove(folder_);
    }
    PinsMount(const PinsMount&) = delete;
    PinsMount& operator=(const PinsMount&) = delete;

    [[nodiscard]] const std::string& folder() const { return folder_; }

private:
    std::string folder_ =
        (std::filesystem::temp_directory_path() / ("sluice-bpf-" + std::to_string(::getpid())))
            .string();
};

// The program of a port, loaded into this kernel at `lo`, and run over frames one by one. Wants
// root.
class ProgramBox {
public:
    static bool is_possible() { return ::geteuid() == 0; }

    explicit ProgramBox(std::size_t early_drop, std::optional<ManagementOptions> management = {},
                        KernelMode mode = KernelMode::Auto) {
        state_ = need(PairMap::open(pins_.folder(), KernelOptions{}));
        if (early_drop != 0) {
            table_ = need(EarlyDropTable::make(early_drop));
        }
        program_ = need(PortProgram::attach({.interface = "lo",
                                             .peer = "lo",
                                             .side = 0,
                                             .folder = pins_.folder(),
                                             .mode = mode,
                                             .pair_map = state_.fd(),
                                             .early_networks = table_.networks_fd(),
                                             .early_counts = table_.counts_fd(),
                                             .management = std::move(management)}));
        fd_ = Fd{bpf_prog_get_fd_by_id(program_->id())};
    }
    ~ProgramBox() {
        const Fd link{bpf_obj_get((pins_.folder() + "/outside").c_str())};
        (void)bpf_link_detach(link.get());  // at once, so that the next one finds `lo` free
        program_.reset();
    }
    ProgramBox(const ProgramBox&) = delete;
    ProgramBox& operator=(const ProgramBox&) = delete;

    [[nodiscard]] EarlyDropTable& table() { return table_; }
    [[nodiscard]] sluice_port_counts counts() const { return state_.counts(0); }
    [[nodiscard]] std::uint64_t dropped_early(std::uint32_t row) const {
        return table_.count(row).packets;
    }

    // What it does with the frame; nullopt: the kernel runs no program over one of this size.
    [[nodiscard]] std::optional<std::uint32_t> run(ByteView frame) const {
        bpf_test_run_opts options{};
        options.sz = sizeof(options);
        options.data_in = frame.data();
        options.data_size_in = static_cast<std::uint32_t>(frame.size());
        options.repeat = 1;
        return bpf_prog_test_run_opts(fd_.get(), &options) == 0 ? std::optional{options.retval}
                                                                : std::nullopt;
    }

private:
    template <typename T>
    static T need(Result<T> result) {
        if (!result) {
            throw std::runtime_error(result.error().what);
        }
        return *std::move(result);
    }

    PinsMount pins_;
    PairMap state_;
    EarlyDropTable table_;
    std::optional<PortProgram> program_;
    Fd fd_;
};

inline EarlyDrop early_drop(const IpPrefix& from, std::uint32_t row, std::uint64_t until = 0) {
    EarlyDrop drop{};
    drop.network.length = SLUICE_VERSION_BITS + from.length;
    drop.network.from.version = static_cast<std::uint32_t>(from.version);
    std::memcpy(drop.network.from.bytes, from.address.bytes.data(), from.address.bytes.size());
    drop.drop = {.until = until, .row = row, .passes = 0};
    return drop;
}
// A key that is left to the box, whatever network it lies in.
inline EarlyDrop passing(const IpPrefix& from, std::uint64_t until = 0) {
    EarlyDrop drop = early_drop(from, 0, until);
    drop.drop.passes = 1;
    return drop;
}

}  // namespace sluice::test
