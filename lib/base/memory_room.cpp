#include "lib/base/memory_room.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

#include <sys/resource.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::uint64_t kUnlimited = UINT64_MAX;

std::optional<std::uint64_t> number_at(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(": \t"), text.size()));
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} ? std::optional{number} : std::nullopt;
}

// Empty: it cannot be read.
std::string text_of(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

constexpr std::uint64_t left(std::uint64_t most, std::uint64_t used) noexcept {
    return most > used ? most - used : 0;
}

// The names that a version of control groups has for the same things.
struct GroupFiles {
    std::string_view below;  // the root
    std::string_view most;
    std::string_view used;
    std::string_view reclaimable;
};
constexpr GroupFiles kVersion1{"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file"};
constexpr GroupFiles kVersion2{"", "memory.max", "memory.current", "inactive_file"};

// Pages of files that nobody has used lately are given up for others.
std::uint64_t room_in_group(const std::string& folder, const GroupFiles& files) {
    const auto number_in = [&](std::string_view name) {
        return number_at(text_of(folder + "/" + std::string{name}));
    };
    const std::optional<std::uint64_t> most = number_in(files.most);
    const std::optional<std::uint64_t> used = number_in(files.used);
    if (!most || !used) {
        return kUnlimited;
    }
    const std::string stat = text_of(folder + "/memory.stat");
    return left(*most, left(*used, number_behind(stat, files.reclaimable).value_or(0)));
}

// A group cannot take what one above it does not have.
std::uint64_t room_along(std::string path, const GroupFiles& files, const std::string& root) {
    std::uint64_t room = kUnlimited;
    for (;;) {
        path.resize(path.find_last_not_of('/') + 1);
        room = std::min(room, room_in_group(root + std::string{files.below} + path, files));
        if (path.empty()) {
            return room;
        }
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
}

std::uint64_t room_under(__rlimit_resource_t what, std::uint64_t used) {
    rlimit limit{};
    const bool limited = ::getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? left(limit.rlim_cur, used) : kUnlimited;
}

// /proc/self/statm: pages in all, in memory, shared, of text, 0, of data and stack.
std::uint64_t room_under_own_limits() {
    std::ifstream statm{"/proc/self/statm"};
    std::array<std::uint64_t, 6> pages{};
    for (std::uint64_t& each : pages) {
        statm >> each;
    }
    if (!statm) {
        return kUnlimited;
    }
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return std::min(room_under(RLIMIT_AS, pages[0] * page),
                    room_under(RLIMIT_DATA, pages[5] * page));
}

}  // namespace

std::optional<std::uint64_t> number_behind(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        if (line.starts_with(name) && line.size() > name.size() &&
            (line[name.size()] == ' ' || line[name.size()] == ':')) {
            return number_at(line.substr(name.size()));
        }
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return std::nullopt;
}

std::uint64_t room_of_machine(std::string_view meminfo, bool strict) {
    const auto bytes = [&](std::string_view name) -> std::optional<std::uint64_t> {
        const std::optional<std::uint64_t> kib = number_behind(meminfo, name);
        return kib ? std::optional{*kib << 10} : std::nullopt;
    };
    std::uint64_t room = bytes("MemAvailable").value_or(kUnlimited);
    if (strict) {
        room = std::min(room, left(bytes("CommitLimit").value_or(kUnlimited),
                                   bytes("Committed_AS").value_or(0)));
    }
    return room;
}

std::uint64_t room_in_groups(std::string_view groups, const std::string& root) {
    std::uint64_t room = kUnlimited;
    while (!groups.empty()) {
        const std::string_view line = groups.substr(0, groups.find('\n'));
        groups.remove_prefix(std::min(line.size() + 1, groups.size()));
        const std::size_t first = line.find(':');
        const std::size_t second =
            line.find(':', first == std::string_view::npos ? first : first + 1);
        if (second == std::string_view::npos) {
            continue;
        }
        const std::string_view kinds = line.substr(first + 1, second - first - 1);
        const std::string path{line.substr(second + 1)};
        if (kinds.empty()) {
            room = std::min(room, room_along(path, kVersion2, root));
        } else if (kinds == "memory") {
            room = std::min(room, room_along(path, kVersion1, root));
        }
    }
    return room;
}

std::uint64_t available_memory() {
    const bool strict = number_at(text_of("/proc/sys/vm/overcommit_memory")) == 2;
    const std::uint64_t room = std::min({
        room_under_own_limits(),
        room_in_groups(text_of("/proc/self/cgroup"), "/sys/fs/cgroup"),
        room_of_machine(text_of("/proc/meminfo"), strict),
    });
    return room == kUnlimited ? room : left(room, kMemoryKeptBack);
}

}  // namespace sluice
