#include "lib/policy/zones/time_zones.hpp"

#include "lib/policy/problems/nearest.hpp"

#include <absl/strings/ascii.h>
#include <absl/time/time.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace sluice {
namespace {

// Last second that a table of offsets covers: 2099-12-31T23:59:59Z. From then on the last holds.
constexpr std::int64_t kEnd = 4'102'444'800;
constexpr std::size_t kLongestName = 64;

// `Europe/Berlin`, `Etc/GMT+3`: names of files below one folder, and no way out of it. Each zone
// once: posix/ has all of them again, and right/ with leap seconds, which clocks here have not.
bool is_zone_name(std::string_view name) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '/' || c == '_' || c == '+' || c == '-';
    };
    return !name.empty() && name.size() <= kLongestName && name.front() != '/' &&
           !name.starts_with("posix/") && !name.starts_with("right/") && name.back() != '/' &&
           name.find("//") == std::string_view::npos && std::all_of(name.begin(), name.end(), fits);
}

std::filesystem::path folder_of_zones() {
    const char* const folder = std::getenv("TZDIR");
    return folder != nullptr ? folder : "/usr/share/zoneinfo";
}

// `localtime` is the machine's own zone, and so another on each box; Factory says that nobody has
// chosen one, and posixrules is a zone under another name.
bool is_of_this_machine(std::string_view name) {
    return name == "localtime" || name == "posixrules" || name == "Factory";
}

// Beside zones there are tables about them. RFC 8536: a zone's file begins with its magic.
bool holds_zone(const std::filesystem::path& file) {
    std::array<char, 4> magic{};
    std::ifstream in{file, std::ios::binary};
    return in.read(magic.data(), magic.size()) && std::string_view{magic.data(), 4} == "TZif";
}

// Abseil keeps every name that it was asked for, unknown ones as unknown, until the process ends:
// it is asked for those alone that the system has.
bool has_zone(std::string_view name) {
    std::error_code failed;
    const std::filesystem::path file = folder_of_zones() / name;
    return !is_of_this_machine(name) && std::filesystem::is_regular_file(file, failed) &&
           holds_zone(file);
}

// Every name that the system has but those that are others under another folder.
std::vector<std::string> zone_names() {
    const std::filesystem::path folder = folder_of_zones();
    std::vector<std::string> names;
    std::error_code failed;
    for (std::filesystem::recursive_directory_iterator at{folder, failed}, end;
         !failed && at != end; at.increment(failed)) {
        const std::string name = at->path().lexically_relative(folder).string();
        if (name == "posix" || name == "right") {
            at.disable_recursion_pending();
        } else if (is_zone_name(name) && has_zone(name)) {
            names.push_back(name);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

// Without regard to capitals, and a blank is an underscore: `new york`.
bool is_same_name(std::string_view typed, std::string_view name) {
    return std::ranges::equal(typed, name, [](char a, char b) {
        const auto plain = [](char c) {
            return c == ' ' ? '_' : absl::ascii_tolower(static_cast<unsigned char>(c));
        };
        return plain(a) == plain(b);
    });
}

// The zones that are called so, whole or by their last part, as cities are. `Etc/GMT+3` is three
// hours behind UTC, and so nobody who writes `GMT+3` means it.
std::vector<std::string_view> zones_called(std::string_view typed,
                                           const std::vector<std::string_view>& names) {
    std::vector<std::string_view> called;
    for (const std::string_view name : names) {
        if (is_same_name(typed, name)) {
            return {name};
        }
        if (!name.starts_with("Etc/") && is_same_name(typed, name.substr(name.rfind('/') + 1))) {
            called.push_back(name);
        }
    }
    return called;
}

// Abbreviations and offsets are near to others that are hours away: `MSK` to `MST`.
bool is_abbreviation(std::string_view typed) {
    return std::ranges::none_of(typed, [](char c) {
        return c == '/' || absl::ascii_islower(static_cast<unsigned char>(c));
    });
}

std::string text_of_meant(std::string_view typed, const std::vector<std::string_view>& names) {
    std::string text;
    for (const std::string_view called : zones_called(typed, names)) {
        text += (text.empty() ? "; did you mean `" : "` or `") + std::string{called};
    }
    if (!text.empty()) {
        return text + "`?";
    }
    return is_abbreviation(typed) ? text : did_you_mean(typed, names);
}

Error no_such_zone(std::string_view name) {
    if (is_zone_name(name) && !has_zone("Europe/London")) {
        return {Errc::BadSyntax, "the time zone `" + std::string{name} + "` cannot be read: " +
                                     folder_of_zones().string() + " has no zones; install tzdata"};
    }
    // Read once: a file may have many that are wrong.
    static const std::vector<std::string> names = zone_names();
    const std::vector<std::string_view> known{names.begin(), names.end()};
    const std::string meant = text_of_meant(name, known);
    return {Errc::BadSyntax,
            "there is no time zone `" + std::string{name} + "`" +
                (meant.empty()
                     ? "; zones are called as in the IANA database, such as Europe/Moscow, and "
                       "an hour ahead of UTC is Etc/GMT-1"
                     : meant)};
}

std::int32_t ahead_at(const absl::TimeZone& zone, absl::Time time) {
    return zone.At(time).offset;
}

}  // namespace

Result<std::shared_ptr<const ZoneOffsets>> read_time_zone(std::string_view name) {
    absl::TimeZone zone;
    const absl::string_view wanted{name.data(), name.size()};
    if (!is_zone_name(name) || !has_zone(name) || !absl::LoadTimeZone(wanted, &zone)) {
        return no_such_zone(name);
    }
    ZoneOffsets offsets{.name = std::string{name}, .first = 0, .changes = {}};
    absl::Time at = absl::UnixEpoch();
    offsets.first = ahead_at(zone, at);
    std::int32_t last = offsets.first;
    absl::TimeZone::CivilTransition change;
    while (offsets.changes.size() < ZoneOffsets::kMostChanges && zone.NextTransition(at, &change)) {
        // The civil second that it would have been, by the clock before.
        const absl::Time next = zone.At(change.to).trans;
        if (next <= at || absl::ToUnixSeconds(next) > kEnd) {
            break;
        }
        at = next;
        const std::int32_t ahead = ahead_at(zone, at);
        if (ahead != last) {
            offsets.changes.push_back({absl::ToUnixSeconds(at), ahead});
            last = ahead;
        }
    }
    return std::make_shared<const ZoneOffsets>(std::move(offsets));
}

}  // namespace sluice
