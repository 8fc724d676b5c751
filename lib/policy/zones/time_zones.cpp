#include "lib/policy/zones/time_zones.hpp"

#include <absl/time/time.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

// Last second that a table of offsets covers: 2099-12-31T23:59:59Z. From then on the last holds.
constexpr std::int64_t kEnd = 4'102'444'800;
constexpr std::size_t kLongestName = 64;

// `Europe/Berlin`, `Etc/GMT+3`: names of files below one folder, and no way out of it.
bool is_zone_name(std::string_view name) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '/' || c == '_' || c == '+' || c == '-';
    };
    return !name.empty() && name.size() <= kLongestName && name.front() != '/' &&
           name.back() != '/' && name.find("//") == std::string_view::npos &&
           std::all_of(name.begin(), name.end(), fits);
}

// Abseil keeps every name that it was asked for, unknown ones as unknown, until the process ends:
// it is asked for those alone that the system has.
bool has_zone(std::string_view name) {
    const char* const folder = std::getenv("TZDIR");
    std::error_code failed;
    return std::filesystem::is_regular_file(
        std::filesystem::path{folder != nullptr ? folder : "/usr/share/zoneinfo"} / name, failed);
}

std::int32_t ahead_at(const absl::TimeZone& zone, absl::Time time) {
    return zone.At(time).offset;
}

}  // namespace

Result<std::shared_ptr<const ZoneOffsets>> read_time_zone(std::string_view name) {
    absl::TimeZone zone;
    const absl::string_view wanted{name.data(), name.size()};
    if (!is_zone_name(name) || !has_zone(name) || !absl::LoadTimeZone(wanted, &zone)) {
        return Error{
            Errc::BadSyntax,
            has_zone("Europe/London") || !is_zone_name(name)
                ? "there is no time zone `" + std::string{name} +
                      "`; zones are called as in the IANA database, such as Europe/Moscow"
                : "the time zone `" + std::string{name} +
                      "` cannot be read: /usr/share/zoneinfo has no zones; install tzdata"};
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
