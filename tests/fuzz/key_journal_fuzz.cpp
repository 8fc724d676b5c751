#include "control/daemon/kept_file.hpp"
#include "control/daemon/key_journal.hpp"
#include "tests/fuzz/accepted.hpp"
#include "tests/fuzz/input.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Records of single keys' settings as a crash, a bad disk or somebody's editor may leave them. The
// first byte says how: `r`, the bytes as they are; `s`, each line is the text of a record, whose
// sum is made here, so that what lies behind the sum is reached too.
namespace {

using namespace sluice;
using test::require;

constexpr std::string_view kBase = "base";

// What records come after, as rules.json has it.
StoredRules kept() {
    StoredRules rules{.file = "r.yaml", .text = "", .modes = {}};
    rules.generation = 7;
    for (const char* key : {"10.0.0.1", "10.0.0.2", "10.0.0.3"}) {
        rules.keys.push_back({.rule = "a", .key = key, .what = KeySetting::What::Banned});
    }
    return rules;
}

std::string sealed(std::string_view lines) {
    std::string text;
    while (!lines.empty()) {
        const std::string_view line = lines.substr(0, lines.find('\n'));
        text.append("k ").append(sum_of(line)).append(" ").append(line).append("\n");
        lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    }
    return text;
}

struct Replayed {
    explicit Replayed(std::string_view text)
        : read{replay_records(text, std::string{kBase}, rules)} {}

    [[nodiscard]] bool same_as(const Replayed& other) const {
        return read.records == other.read.records && read.bytes == other.read.bytes &&
               rules.keys == other.rules.keys && rules.generation == other.rules.generation &&
               rules.changed_at == other.rules.changed_at &&
               rules.changed_by == other.rules.changed_by;
    }

    StoredRules rules = kept();
    JournalRead read;
};

// As far as they are whole, records count, whatever follows: a part of the next one, the last one
// once more, or what only was prepared.
void check_prefix(std::string_view text, const Replayed& all) {
    const std::string_view whole = text.substr(0, all.read.bytes);
    const Replayed alone{whole};
    require(alone.same_as(all) && alone.read.fault.empty());
    const std::size_t last = whole.empty() ? 0 : whole.rfind('\n', whole.size() - 2) + 1;
    if (all.read.records == 0) {
        return;
    }
    const std::string twice = std::string{whole}.append(whole.substr(last));
    const Replayed again{twice};
    require(again.same_as(all) && !again.read.fault.empty());
    std::string prepared = twice;
    prepared[whole.size()] = 'p';
    const Replayed never{prepared};
    require(never.same_as(all) && never.read.fault.empty());
    const Replayed torn{std::string_view{twice}.substr(0, twice.size() - 1)};
    require(torn.same_as(all) && !torn.read.fault.empty());
}

// One more change goes on behind what was read.
void check_next(std::string_view text, const Replayed& all) {
    StoredRules next = all.rules;
    next.generation ^= 1;
    if (!next.keys.empty()) {
        next.keys.erase(next.keys.begin());
    }
    next.keys.push_back({.rule = "no such rule", .key = "\xFF|", .limit = "1", .rate = "1/s"});
    std::optional<std::string> line =
        record_text(all.rules, next, std::string{kBase}, all.read.records);
    if (!line || all.read.records == KeyJournal::kMostRecords) {
        return;
    }
    line->front() = 'k';
    const Replayed longer{std::string{text.substr(0, all.read.bytes)}.append(*line)};
    require(longer.read.records == all.read.records + 1 && longer.read.fault.empty());
    require(longer.rules.generation == next.generation);
    require(longer.rules.keys.size() == next.keys.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input{reinterpret_cast<const char*>(data), size};
    if (input.empty()) {
        return 0;
    }
    const std::string text =
        input.front() == 's' ? sealed(input.substr(1)) : std::string{input.substr(1)};
    const Replayed all{text};
    static test::AcceptedInputs accepted;
    accepted.add(all.read.records != 0);
    require(all.read.bytes <= text.size() && all.read.records <= KeyJournal::kMostRecords);
    require(all.rules.keys.size() <= kMaxKeySettings);
    check_prefix(text, all);
    check_next(text, all);
    return 0;
}
