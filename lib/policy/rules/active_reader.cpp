#include "lib/policy/rules/active_reader.hpp"

#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/zones/time_zones.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

constexpr auto kDays =
    std::to_array<std::string_view>({"mon", "tue", "wed", "thu", "fri", "sat", "sun"});
constexpr std::uint32_t kMinutesOfDay = 24 * 60;
constexpr std::size_t kMostItems = 24;  // of a list of days or hours

using Days = std::array<bool, kDays.size()>;
// Minutes of a day; an end that is not behind the begin is on the next day.
struct Hours {
    std::uint32_t begin = 0;
    std::uint32_t end = kMinutesOfDay;
};

// One reader of a map `active`. What is wrong is reported, and leaves `ok` false.
class ActiveReader {
public:
    ActiveReader(const YamlNode& node, const ReadContext& context)
        : context_{context}, map_{node, rule_keys::kActive, context, "active"} {}

    std::optional<ActiveTimes> run() {
        if (!map_.is_map()) {
            return std::nullopt;
        }
        if (map_.find("days") == nullptr && map_.find("hours") == nullptr) {
            error(map_.node().at, "`active` needs `days`, `hours` or both");
        }
        const std::string days =
            read_items("days", "every day", [this](const YamlNode& item) { read_days(item); });
        const std::string hours =
            read_items("hours", "all day", [this](const YamlNode& item) { read_hours(item); });
        if (days_ == Days{}) {
            days_.fill(true);
        }
        if (hours_.empty()) {
            hours_.push_back({});
        }
        std::shared_ptr<const ZoneOffsets> zone = read_zone();
        if (!ok_ || zone == nullptr) {
            return std::nullopt;
        }
        std::string text = days + " " + hours + " " + zone->name;
        return ActiveTimes{{.zone = std::move(zone), .active = ranges()}, std::move(text)};
    }

private:
    void error(Position at, std::string what) {
        context_.problems.error(at, std::move(what));
        ok_ = false;
    }

    // A word or a list of words; the words as a text, or `absent`.
    template <typename Read>
    std::string read_items(std::string_view key, std::string_view absent, Read&& read) {
        const YamlNode* const node = map_.find(key);
        if (node == nullptr) {
            return std::string{absent};
        }
        if (!node->is_list()) {
            read(*node);
            return node->text;
        }
        if (node->items.empty() || node->items.size() > kMostItems) {
            error(node->at, "`" + std::string{key} + "` lists 1 to " + std::to_string(kMostItems) +
                                " of them; leave the key out for all");
            return {};
        }
        std::string text;
        for (const YamlNode& item : node->items) {
            read(item);
            text += (text.empty() ? "" : ",") + item.text;
        }
        return text;
    }

    // `fri`, `mon-fri`, `sat-mon`.
    void read_days(const YamlNode& item) {
        const std::string_view text = item.is_scalar() ? std::string_view{item.text} : "";
        const std::size_t dash = text.find('-');
        const auto first = day_of(text.substr(0, dash), item);
        const auto last =
            dash == std::string_view::npos ? first : day_of(text.substr(dash + 1), item);
        if (!first || !last) {
            return;
        }
        days_[*last] = true;
        for (std::size_t day = *first; day != *last; day = (day + 1) % kDays.size()) {
            days_[day] = true;
        }
    }
    std::optional<std::size_t> day_of(std::string_view word, const YamlNode& item) {
        const auto found = std::find(kDays.begin(), kDays.end(), word);
        if (found == kDays.end()) {
            error(item.at, "`days` are days such as fri or ranges such as mon-fri, of " +
                               list_of(kDays) + "; found " + kind_name(item) +
                               did_you_mean(word, kDays));
            return std::nullopt;
        }
        return static_cast<std::size_t>(found - kDays.begin());
    }

    // `09:00-18:00`, `22:00-06:00`, `18:00-24:00`.
    void read_hours(const YamlNode& item) {
        const std::string_view text = item.is_scalar() ? std::string_view{item.text} : "";
        const std::size_t dash = text.find('-');
        const auto begin = minute_of(text.substr(0, dash));
        const auto end =
            dash == std::string_view::npos ? std::nullopt : minute_of(text.substr(dash + 1));
        if (!begin || !end || *begin == kMinutesOfDay) {
            error(item.at,
                  "`hours` are written 09:00-18:00, from 00:00 to 24:00; found " + kind_name(item));
        } else if (*begin == *end) {
            error(item.at, "`hours` " + item.text +
                               " are empty, since the end is not within: all day is 00:00-24:00");
        } else {
            hours_.push_back({*begin, *end});
        }
    }
    static std::optional<std::uint32_t> minute_of(std::string_view text) {
        constexpr std::string_view kShape = "00:00";
        const auto is_digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
        if (text.size() != kShape.size() || text[2] != ':' || !is_digit(0) || !is_digit(1) ||
            !is_digit(3) || !is_digit(4)) {
            return std::nullopt;
        }
        const auto two = [&](std::size_t at) {
            return static_cast<std::uint32_t>((text[at] - '0') * 10 + (text[at + 1] - '0'));
        };
        const std::uint32_t minute = two(0) * 60 + two(3);
        return two(3) < 60 && minute <= kMinutesOfDay ? std::optional{minute} : std::nullopt;
    }

    std::shared_ptr<const ZoneOffsets> read_zone() {
        const YamlNode* const node = map_.find("zone");
        const std::optional<std::string> name = node == nullptr ? "UTC" : map_.text("zone");
        if (!name) {
            ok_ = false;
            return nullptr;
        }
        Result<std::shared_ptr<const ZoneOffsets>> zone = read_time_zone(*name);
        if (!zone) {
            error(node == nullptr ? map_.node().at : node->at, zone.error().what);
            return nullptr;
        }
        return *std::move(zone);
    }

    // Ranges of the week, in order, those that touch joined.
    [[nodiscard]] std::vector<Schedule::Range> ranges() const {
        constexpr std::uint32_t kWeek = kMinutesOfDay * kDays.size();
        std::vector<bool> minutes(kWeek);
        for (std::uint32_t day = 0; day < kDays.size(); ++day) {
            for (const Hours& hours : hours_) {
                const std::uint32_t length =
                    (hours.end + kMinutesOfDay - hours.begin - 1) % kMinutesOfDay + 1;
                for (std::uint32_t i = 0; days_[day] && i < length; ++i) {
                    minutes[(day * kMinutesOfDay + hours.begin + i) % kWeek] = true;
                }
            }
        }
        std::vector<Schedule::Range> ranges;
        for (std::uint32_t minute = 0; minute < kWeek; ++minute) {
            if (!minutes[minute]) {
                continue;
            }
            if (ranges.empty() || ranges.back().end != minute * 60) {
                ranges.push_back({minute * 60, minute * 60});
            }
            ranges.back().end += 60;
        }
        return ranges;
    }

    const ReadContext& context_;
    MapReader map_;
    Days days_{};
    std::vector<Hours> hours_;
    bool ok_ = true;
};

}  // namespace

std::optional<ActiveTimes> read_active(const MapReader& rule, const ReadContext& context) {
    const YamlNode* const node = rule.find("active");
    return node == nullptr ? std::nullopt : ActiveReader{*node, context}.run();
}

}  // namespace sluice
