#include "dataplane/eal.hpp"

#include "lib/base/log.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include <rte_eal.h>
#include <rte_errno.h>
#include <unistd.h>

namespace sluice {
namespace {

// All instances share it: without shared configuration nothing is kept under it, and a process that
// is killed leaves no more than one empty folder, which the next one uses again.
constexpr const char* kFilePrefix = "sluice";
constexpr unsigned kDefaultMemoryMb = 128;  // beside what the packet buffers take
constexpr std::uint64_t kBufferSize = 2048 + 640;

bool has_free_huge_pages() {
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator{"/sys/kernel/mm/hugepages", error}) {
        std::ifstream file{entry.path() / "free_hugepages"};
        std::uint64_t pages = 0;
        if (file >> pages && pages > 0) {
            return true;
        }
    }
    return false;
}

std::string default_lcores() {
    return ::sysconf(_SC_NPROCESSORS_ONLN) > 1 ? "0@0,1@1" : "0@0,1@0";
}

void add_memory(const DataplaneOptions& options, std::vector<std::string>& arguments) {
    const std::uint64_t buffers = (options.mbufs * kBufferSize) >> 20;
    const std::uint64_t wanted =
        options.memory_mb != 0 ? options.memory_mb : kDefaultMemoryMb + buffers;
    arguments.insert(arguments.end(), {"--no-huge", "--no-shconf", "-m", std::to_string(wanted)});
}

void add_devices(const DataplaneOptions& options, std::vector<std::string>& arguments) {
    bool any = false;
    for (const PairOptions& pair : options.pairs) {
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

bool is_pci(const std::string& device) {
    const std::string address = device.substr(0, device.find(','));
    const bool letters = std::all_of(address.begin(), address.end(), [](char c) {
        return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
    });
    return letters && address.find(':') != std::string::npos &&
           address.find('.') != std::string::npos;
}

Result<std::vector<std::string>> eal_arguments(const DataplaneOptions& options,
                                               bool free_huge_pages) {
    if (options.huge_pages == HugePages::Required && !free_huge_pages) {
        return Error{Errc::NotSupported,
                     "huge pages are required, and none is free; reserve some (sysctl "
                     "vm.nr_hugepages=512) or give --hugepages auto"};
    }
    std::vector<std::string> arguments{"sluice-dataplane",
                                       "--lcores",
                                       options.lcores.empty() ? default_lcores() : options.lcores,
                                       "--no-telemetry",
                                       "--file-prefix",
                                       kFilePrefix,
                                       "--log-level",
                                       options.log_level == LogLevel::Debug ? "info" : "warning"};
    if (free_huge_pages && options.huge_pages != HugePages::None) {
        arguments.emplace_back("--in-memory");
    } else {
        add_memory(options, arguments);
    }
    add_devices(options, arguments);
    arguments.insert(arguments.end(), options.eal.begin(), options.eal.end());
    return arguments;
}

Result<Done> start_eal(const DataplaneOptions& options) {
    Result<std::vector<std::string>> arguments = eal_arguments(options, has_free_huge_pages());
    if (!arguments) {
        return arguments.error();
    }
    std::vector<char*> argv;
    for (std::string& argument : *arguments) {
        argv.push_back(argument.data());
    }
    if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0) {
        return Error{Errc::NotSupported,
                     std::string{"DPDK does not start: "} + rte_strerror(rte_errno) +
                         "; look at the lines above, and at --lcores, --memory and --hugepages"};
    }
    return Done{};
}

void end_eal() noexcept {
    const std::string directory = rte_eal_get_runtime_dir();
    (void)rte_eal_cleanup();
    (void)::rmdir(directory.c_str());  // only if it is empty: another instance may use it
}

}  // namespace sluice
