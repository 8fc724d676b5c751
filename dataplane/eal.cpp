#include "dataplane/eal.hpp"

#include "dataplane/config/lcore_check.hpp"
#include "dataplane/port/pool.hpp"
#include "lib/base/log.hpp"
#include "lib/base/read_file.hpp"
#include "lib/share/core.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

#include <rte_eal.h>
#include <rte_errno.h>
#include <unistd.h>

namespace sluice {
namespace {

// All instances share it: without shared configuration nothing is kept under it, and a process that
// is killed leaves no more than one empty folder, which the next one uses again.
constexpr const char* kFilePrefix = "sluice";

// In bytes, over all sizes: each has a folder such as hugepages-2048kB.
std::uint64_t free_huge_pages() {
    constexpr std::string_view kFolder = "hugepages-";
    std::uint64_t bytes = 0;
    for (const std::string& name : names_in("/sys/kernel/mm/hugepages")) {
        std::ifstream file{"/sys/kernel/mm/hugepages/" + name + "/free_hugepages"};
        std::uint64_t pages = 0;
        std::uint64_t kib = 0;
        if (file >> pages && name.starts_with(kFolder)) {
            (void)std::from_chars(name.data() + kFolder.size(), name.data() + name.size(), kib);
            bytes += pages * kib * 1024;
        }
    }
    return bytes;
}

std::string default_lcores() {
    return ::sysconf(_SC_NPROCESSORS_ONLN) > 1 ? "0@0,1@1" : "0@0,1@0";
}

void add_memory(std::uint64_t megabytes, std::vector<std::string>& arguments) {
    arguments.insert(arguments.end(),
                     {"--no-huge", "--no-shconf", "-m", std::to_string(megabytes)});
}

std::uint64_t megabytes_for(const BoxConfig& box, const std::string& lcores, std::uint64_t page) {
    const std::size_t workers = std::clamp<std::size_t>(count_lcores(lcores), 2, kMaxCores) - 1;
    return (memory_needed(box, workers, page) >> 20) + 1;
}

void add_devices(const BoxConfig& box, std::vector<std::string>& arguments) {
    bool any = false;
    for (const PairConfig& pair : box.pairs) {
        for (const std::string& device : {pair.outside.device, pair.inside.device}) {
            if (is_pci(device)) {
                arguments.insert(arguments.end(), {"-a", device});
                any = true;
            }
        }
    }
    if (!any) {
        arguments.emplace_back("--no-pci");
    }
}

}  // namespace

Result<std::vector<std::string>> eal_arguments(const BoxConfig& box,
                                               std::span<const std::string> more,
                                               std::uint64_t free_huge) {
    if (box.huge_pages == HugePages::Required && free_huge == 0) {
        return Error{Errc::NotSupported,
                     "huge pages are required, and none is free; reserve some (sysctl "
                     "vm.nr_hugepages=512) or set `hugepages: auto`"};
    }
    const std::string lcores = box.lcores.empty() ? default_lcores() : box.lcores;
    std::vector<std::string> arguments{"sluice-dataplane",
                                       "--lcores",
                                       lcores,
                                       "--no-telemetry",
                                       "--file-prefix",
                                       kFilePrefix,
                                       "--log-level",
                                       box.log_level == LogLevel::Debug ? "info" : "warning"};
    const bool enough = box.huge_pages == HugePages::Auto &&
                        free_huge >> 20 >= megabytes_for(box, lcores, kHugePage);
    if (enough || box.huge_pages == HugePages::Required) {
        arguments.emplace_back("--in-memory");
    } else {
        add_memory(megabytes_for(box, lcores, kSmallPage), arguments);
    }
    add_devices(box, arguments);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

Result<Done> start_eal(const BoxConfig& box, std::span<const std::string> more) {
    if (const Result<Done> checked =
            box.lcores.empty() ? Result<Done>{Done{}} : check_lcores(box.lcores, may_run_on);
        !checked) {
        return checked.error();
    }
    const std::uint64_t free_huge = free_huge_pages();
    Result<std::vector<std::string>> arguments = eal_arguments(box, more, free_huge);
    if (!arguments) {
        return arguments.error();
    }
    const bool without =
        std::find(arguments->begin(), arguments->end(), "--no-huge") != arguments->end();
    if (without && box.huge_pages == HugePages::Auto && free_huge != 0) {
        log_warn("the " + std::to_string(free_huge >> 20) +
                 " MB of free huge pages are not enough; going on without any");
    }
    std::vector<char*> argv;
    for (std::string& argument : *arguments) {
        argv.push_back(argument.data());
    }
    if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0) {
        return Error{Errc::NotSupported,
                     std::string{"DPDK does not start: "} + rte_strerror(rte_errno) +
                         "; look at the lines above, and at the lcores and `hugepages`"};
    }
    return Done{};
}

void end_eal() noexcept {
    const std::string directory = rte_eal_get_runtime_dir();
    (void)rte_eal_cleanup();
    (void)::rmdir(directory.c_str());  // only if it is empty: another instance may use it
}

}  // namespace sluice
