#include "control/daemon/rules_file.hpp"

#include "control/daemon/author_json.hpp"
#include "control/daemon/kept_file.hpp"
#include "control/daemon/operators_part.hpp"
#include "control/daemon/tenants_json.hpp"
#include "control/daemon/whole_number.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sluice {
namespace {

using nlohmann::json;

// Version 1 had sums of the text and the deadline only: it is read, and written as this one.
constexpr int kVersion = 2;
constexpr int kFirstVersion = 1;
constexpr const char* kSum = "sum";

std::string sum_of_end(const TrialEnd& end) {
    return sum_of(fmt::format("{} {} {}", end.at.boot, end.at.since.count(), end.utc));
}

// The sum of all that the document says. JSON's freedoms (spaces, how a character is escaped) are
// no part of it.
std::string sum_of_document(json document) {
    document.erase(kSum);
    return sum_of(document.dump(-1, ' ', false, json::error_handler_t::replace));
}

// Makes sure that whoever reads on may take every member for what was written.
void check_sum(const json& document) {
    const json& version = document.at("version");
    if (version != kVersion && version != kFirstVersion) {
        throw std::runtime_error("it is of another version");
    }
    const std::string sum = version == kFirstVersion
                                ? sum_of(document.at("text").get<std::string>())
                                : sum_of_document(document);
    if (document.at(kSum) != sum) {
        throw std::runtime_error("its checksum is another");
    }
}

json modes_json(const ModeOverrides& modes) {
    json object = json::object();
    for (const auto& [id, mode] : modes) {
        object[id] = kModeNames[static_cast<std::size_t>(mode)];
    }
    return object;
}

ModeOverrides modes_of(const json& object) {
    ModeOverrides modes;
    for (const auto& [id, word] : object.items()) {
        const std::string name = word.is_string() ? word.get<std::string>() : std::string{};
        const auto found = std::find(kModeNames.begin(), kModeNames.end(), name);
        if (found != kModeNames.end()) {
            modes[id] = static_cast<Mode>(found - kModeNames.begin());
        }
    }
    return modes;
}

// No id of a rule.
constexpr const char* kLives = "of rules with a ttl";
constexpr const char* kKeys = "of single keys";
constexpr const char* kFiles = "of several files";
constexpr const char* kTenants = "of tenants";
constexpr const char* kSetOnTrial = "set_on_trial";
constexpr const char* kKeysAside = "keys_aside";

json lives_json(const RuleLives& lives) {
    json object = json::object();
    for (const auto& [id, life] : lives) {
        object[id] = {{"first_applied", life.first_applied}, {"ended", life.ended}};
    }
    return object;
}

RuleLives lives_of(const json& object) {
    RuleLives lives;
    for (const auto& [id, life] : object.items()) {
        const bool whole = life.is_object() && life.contains("first_applied") &&
                           life.contains("ended") && life["ended"].is_boolean();
        const std::optional<std::int64_t> first =
            whole ? whole_number<std::int64_t>(life["first_applied"]) : std::nullopt;
        if (first) {
            lives[id] = {*first, life["ended"]};
        }
    }
    return lives;
}

json slices_json(const std::vector<FileSlice>& slices) {
    json list = json::array();
    for (const FileSlice& slice : slices) {
        list.push_back({{"name", slice.name}, {"directory", slice.folder}, {"bytes", slice.size}});
    }
    return list;
}

// Throws where they are not those of the text.
std::vector<FileSlice> slices_of(const json& list, std::size_t size) {
    std::vector<FileSlice> slices;
    for (const json& one : list) {
        slices.push_back(
            {one.at("name"), one.at("directory"), whole_number_in<std::size_t>(one.at("bytes"))});
        if (slices.back().size > size) {
            throw std::runtime_error("its files are larger than its text");
        }
        size -= slices.back().size;
    }
    if (!slices.empty() && size != 0) {
        throw std::runtime_error("its files are smaller than its text");
    }
    return slices;
}

json sums_json(const ListTexts& lists) {
    json object = json::object();
    for (const auto& [path, text] : lists) {
        object[path] = sum_of_list(text);
    }
    return object;
}

// A copy that is lost is left out: compiling reads the file instead.
ListTexts lists_of(const json& sums, const ListCopies& copies) {
    ListTexts lists;
    for (const auto& [path, sum] : sums.items()) {
        if (auto text = copies.find(sum.get<std::string>())) {
            lists[path] = std::move(text);
        }
    }
    return lists;
}

json document_of(const StoredRules& rules) {
    json document{{"version", kVersion},
                  {"file", rules.file},
                  {"generation", rules.generation},
                  {"changed_at", rules.changed_at},
                  {"modes", modes_json(rules.modes)},
                  {"lives", lives_json(rules.lives)},
                  {"keys", settings_to_json(rules.keys)},
                  {"directory", rules.directory},
                  {"applied_by", rules.applied_by},
                  {"lists", sums_json(rules.lists)},
                  {"sent", rules.sent},
                  {"text", rules.text}};
    if (!rules.slices.empty()) {
        document["files"] = slices_json(rules.slices);
    }
    if (!rules.tenants.empty()) {
        document[kTenants] = tenants_json(rules.tenants);
    }
    if (rules.operators_generation != 0) {
        document["operators_generation"] = rules.operators_generation;
    }
    if (!rules.set_on_trial.empty()) {
        document[kSetOnTrial] = modes_json(rules.set_on_trial);
    }
    if (!rules.keys_aside.empty()) {
        document[kKeysAside] = settings_to_json(rules.keys_aside);
    }
    add_author(document, rules.changed_by);
    if (!rules.note.empty()) {
        document["note"] = rules.note;
    }
    if (rules.on != StoredRules::kUnknown) {
        document["on"] = rules.on;
    }
    return document;
}

std::size_t rules_on(const json& document) {
    const auto on = document.find("on");
    return on == document.end() ? StoredRules::kUnknown : whole_number_in<std::size_t>(*on);
}

// A flipped bit may well be another rule, mode or number.
std::string sealed_text(json document) {
    document[kSum] = sum_of_document(document);
    return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

StoredRules rules_of(const json& document, const ListCopies& copies) {
    check_sum(document);
    return {.file = document.at("file"),
            .text = document.at("text"),
            .modes = modes_of(document.at("modes")),
            .lives = lives_of(document.value("lives", json::object())),
            .generation = whole_number_in<std::uint64_t>(document.at("generation")),
            .changed_at = whole_number_in<std::int64_t>(document.at("changed_at")),
            .changed_by = read_author(document),
            .directory = document.value("directory", ""),
            .applied_by =
                whole_number_in<uid_t>(document.value("applied_by", document.at("changed_by"))),
            .lists = lists_of(document.value("lists", json::object()), copies),
            .sent = document.value("sent", std::set<std::string>{}),
            .keys = settings_from_json(document.value("keys", json::array())),
            .slices = slices_of(document.value("files", json::array()),
                                document.at("text").get_ref<const std::string&>().size()),
            .note = document.value("note", ""),
            .on = rules_on(document),
            .tenants = tenants_of(document.value(kTenants, json::object())),
            .operators_generation =
                whole_number_in<std::uint64_t>(document.value("operators_generation", json(0)))};
}

Trial trial_of(const json& document, const ListCopies& copies) {
    const json& end = document.at("unconfirmed");
    Trial trial{.rules = rules_of(document, copies),
                .end = {.at = {.boot = end.at("boot"),
                               .since = std::chrono::nanoseconds{whole_number_in<std::int64_t>(
                                   end.at("end_ns"))}},
                        .utc = whole_number_in<std::int64_t>(end.at("end_utc")),
                        .forgives = end.value("forgives", false)}};
    trial.rules.set_on_trial = modes_of(document.value(kSetOnTrial, json::object()));
    trial.rules.keys_aside = settings_from_json(document.value(kKeysAside, json::array()));
    if (document.at("version") == kFirstVersion && end.at(kSum) != sum_of_end(trial.end)) {
        throw std::runtime_error("the checksum of its deadline is another");
    }
    return trial;
}

// Exceptions of the reader at a damaged file end here.
template <typename T>
Result<T> read(const std::string& text, const ListCopies& copies,
               T (*from)(const json&, const ListCopies&)) {
    try {
        return from(json::parse(text), copies);
    } catch (const std::exception& reason) {
        return Error{Errc::BadSyntax, reason.what()};
    }
}

}  // namespace

std::string notes_to_json(const StoredRules& rules) {
    json notes = modes_json(rules.modes);
    if (!rules.lives.empty()) {
        notes[kLives] = lives_json(rules.lives);
    }
    if (!rules.tenants.empty()) {
        notes[kTenants] = tenants_json(rules.tenants);
    }
    if (!rules.slices.empty()) {
        notes[kFiles] = slices_json(rules.slices);
    }
    std::string text = notes.dump(-1, ' ', false, json::error_handler_t::replace);
    if (!rules.keys.empty()) {
        text.back() = notes.empty() ? ' ' : ',';
        text += fmt::format("\"{}\":", kKeys);
        add_settings_text(rules.keys, text);
        text += '}';
    }
    return text;
}

ModeOverrides modes_from_json(const std::string& text) {
    const json object = json::parse(text, nullptr, false);
    return object.is_object() ? modes_of(object) : ModeOverrides{};
}

RuleLives lives_from_json(const std::string& text) {
    const json object = json::parse(text, nullptr, false);
    return object.is_object() ? lives_of(object.value(kLives, json::object())) : RuleLives{};
}

KeySettings keys_from_json(const std::string& text) {
    const json object = json::parse(text, nullptr, false);
    return object.is_object() ? settings_from_json(object.value(kKeys, json::array()))
                              : KeySettings{};
}

TenantTexts tenants_from_json(const std::string& text) {
    try {
        return tenants_of(json::parse(text).value(kTenants, json::object()));
    } catch (const std::exception&) {
        return {};
    }
}

std::vector<FileSlice> slices_from_json(const std::string& notes, const std::string& text) {
    try {
        const json object = json::parse(notes);
        return slices_of(object.value(kFiles, json::array()), text.size());
    } catch (const std::exception&) {
        return {};
    }
}

bool same_source(const StoredRules& one, const StoredRules& other) {
    return one.generation == other.generation && one.text == other.text &&
           one.slices == other.slices;
}

std::string tag_of(const StoredRules& rules) {
    const json set{{"files", slices_json(rules.slices)},
                   {"keys", sum_of_settings(operators_keys(rules.keys))},
                   {"modes", modes_json(operators_modes(rules.modes))},
                   {"text", sum_of(rules.text)}};
    return fmt::format("{:016x}-{}", operators_generation(rules),
                       sum_of(set.dump(-1, ' ', false, json::error_handler_t::replace)));
}

std::string file_text(const StoredRules& rules) {
    return sealed_text(document_of(rules));
}

std::string file_text(const Trial& trial) {
    json document = document_of(trial.rules);
    document["unconfirmed"] = {{"boot", trial.end.at.boot},
                               {"end_ns", trial.end.at.since.count()},
                               {"end_utc", trial.end.utc},
                               {"forgives", trial.end.forgives}};
    return sealed_text(std::move(document));
}

Result<StoredRules> rules_from_file(const std::string& text, const ListCopies& copies) {
    return read(text, copies, rules_of);
}

Result<StoredRules> notes_from_file(const std::string& text) {
    try {
        const json document = json::parse(text);
        check_sum(document);
        return StoredRules{.file = document.at("file"),
                           .text = {},
                           .modes = {},
                           .generation = whole_number_in<std::uint64_t>(document.at("generation")),
                           .changed_at = whole_number_in<std::int64_t>(document.at("changed_at")),
                           .changed_by = read_author(document),
                           .note = document.value("note", ""),
                           .on = rules_on(document)};
    } catch (const std::exception& reason) {
        return Error{Errc::BadSyntax, reason.what()};
    }
}

Result<Trial> trial_from_file(const std::string& text, const ListCopies& copies) {
    return read(text, copies, trial_of);
}

bool add_list_sums(const std::string& text, std::set<std::string>& sums) {
    try {
        const json document = json::parse(text);
        check_sum(document);
        for (const json& sum : document.value("lists", json::object())) {
            sums.insert(sum.get<std::string>());
        }
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

}  // namespace sluice
