#include "lib/policy/lists/named_lists.hpp"

#include "lib/base/ascii.hpp"
#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/problems/nearest.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t kMaxName = 128;

// A list's name behind a `$`, as token.cpp reads it.
bool is_list_name(std::string_view name) noexcept {
    const auto good = [](char c) {
        return is_ascii_alphanumeric(c) || c == '-' || c == '_' || c == '.';
    };
    return !name.empty() && name.size() <= kMaxName && std::all_of(name.begin(), name.end(), good);
}

void read_file(NamedList& list, Position at, const ListReader* files, const ReadContext& context) {
    const std::optional<ListFile> file = read_data_file(list.file, at, files, context);
    if (!file) {
        return;
    }
    ListText text = read_list_text(*file->text, list.values.type, context.problems.stop());
    if (context.problems.are_interrupted()) {
        return;
    }
    text.report(file->name, context.problems);
    list.known = text.fault_count == 0;
    list.values = std::move(text.values);
    list.source = *file;
    if (list.known && list.values.entries == 0) {
        context.problems.warning(at, file->name + " has no entry: nothing is in this list");
    }
}

// nullopt: it has no type or no file, which was reported.
std::optional<NamedList> read_list(const YamlEntry& entry, const ReadContext& context) {
    const MapReader map{entry.value, rule_keys::kList, context, "a list"};
    if (!map.is_map()) {
        return std::nullopt;
    }
    for (const KeyRow& key : rule_keys::kList) {
        if (map.find(key.name) == nullptr) {
            context.problems.error(entry.value.at, "a list needs `" + std::string{key.name} + "`");
        }
    }
    const std::optional<std::size_t> type = map.word("type", kListTypeNames);
    std::optional<std::string> file = data_path(map, "file", context);
    if (!type || !file) {
        return std::nullopt;
    }
    NamedList list{.at = entry.key.at, .file = *std::move(file)};
    list.values.type = static_cast<ListType>(*type);
    return list;
}

}  // namespace

void NamedLists::read(const YamlNode& lists, const ListReader* files, const ReadContext& context) {
    if (!lists.is_map()) {
        context.problems.error(lists.at,
                               "`lists` is a map of names to lists, found " + kind_name(lists));
        return;
    }
    if (lists.entries.size() > kMaxLists) {
        context.problems.error(lists.at,
                               "a file has at most " + std::to_string(kMaxLists) + " lists");
        return;
    }
    for (const YamlEntry& entry : lists.entries) {
        if (!is_list_name(entry.key.text)) {
            context.problems.error(entry.key.at,
                                   "a list's name has 1 to 128 letters, digits, `-`, `_` and `.`");
        }
        // One that cannot be read is known all the same, so that its users are not blamed.
        std::optional<NamedList> list = read_list(entry, context);
        if (list) {
            read_file(*list, value_of(entry.value, "file")->at, files, context);
        }
        lists_.try_emplace(entry.key.text,
                           list ? *std::move(list) : NamedList{.at = entry.key.at, .used = true});
    }
}

const NamedList* NamedLists::find(std::string_view name) {
    const auto found = lists_.find(name);
    if (found == lists_.end()) {
        return nullptr;
    }
    found->second.used = true;
    return &found->second;
}

std::string NamedLists::nearest_to(std::string_view name) const {
    std::vector<std::string_view> names;
    names.reserve(lists_.size());
    for (const auto& [known, list] : lists_) {
        names.push_back(known);
    }
    const std::string_view best = nearest(name, names);
    return best.empty() ? "" : "; did you mean $" + std::string{best} + "?";
}

void NamedLists::warn_of_unused(const ReadContext& context) const {
    for (const auto& [name, list] : lists_) {
        if (!list.used) {
            context.problems.warning(list.at, "no condition uses the list $" + name);
        }
    }
}

std::vector<ListSummary> NamedLists::summaries() const {
    std::vector<ListSummary> all;
    for (const auto& [name, list] : lists_) {
        const ListValues& values = list.values;
        all.push_back({.name = name,
                       .type = std::string{kListTypeNames[static_cast<std::size_t>(values.type)]},
                       .file = list.file,
                       .line = list.at.line,
                       .known = list.known,
                       .entries = values.entries,
                       .ranges = values.v4.size() + values.v6.size() + values.numbers.size() +
                                 values.texts.size()});
    }
    return all;
}

}  // namespace sluice
