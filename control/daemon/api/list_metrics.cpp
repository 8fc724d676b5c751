#include "control/daemon/api/list_metrics.hpp"

#include "control/daemon/api/metrics_writer.hpp"

#include <sys/stat.h>

namespace sluice {
namespace {

std::chrono::duration<double> since_epoch(const timespec& time) {
    return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

std::string list_metrics(const RuleView& rules, std::chrono::system_clock::time_point now) {
    if (rules.list_files.empty()) {
        return "";
    }
    MetricsWriter text;
    text.family("sluice_list_age_seconds",
                "Since when the file of a list or database is as it is, by its own time.");
    for (const std::string& file : rules.list_files) {
        struct stat info{};
        if (::stat(file.c_str(), &info) == 0) {
            const std::chrono::duration<double> age =
                now.time_since_epoch() - since_epoch(info.st_mtim);
            text.sample({{"file", file}}, age.count());
        }
    }
    return text.take();
}

}  // namespace sluice
