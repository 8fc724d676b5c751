#include "lib/policy/files/joined_files.hpp"

#include "lib/policy/tenants/tenant_keys.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

void shift(YamlNode& node, std::uint32_t lines) {
    node.at =
        node.at.line == 0 ? Position{1 + lines, 1} : Position{node.at.line + lines, node.at.column};
    for (YamlNode& item : node.items) {
        shift(item, lines);
    }
    for (YamlEntry& entry : node.entries) {
        shift(entry.key, lines);
        shift(entry.value, lines);
    }
}

YamlNode* find(YamlNode& map, std::string_view key) {
    const auto entry = std::find_if(map.entries.begin(), map.entries.end(),
                                    [&](const YamlEntry& one) { return one.key.text == key; });
    return entry == map.entries.end() ? nullptr : &entry->value;
}

void make_absolute(YamlNode* path, std::string_view folder) {
    if (path != nullptr && path->is_scalar() && !path->text.empty()) {
        path->text = (std::filesystem::path{folder} / path->text).lexically_normal().string();
    }
}

// Every path that a rule file may hold: of lists, databases and override files.
void make_paths_absolute(YamlNode& root, std::string_view folder) {
    if (YamlNode* data = find(root, "data")) {
        make_absolute(find(*data, "country_db"), folder);
        make_absolute(find(*data, "asn_db"), folder);
        if (YamlNode* lists = find(*data, "lists")) {
            for (YamlEntry& list : lists->entries) {
                make_absolute(find(list.value, "file"), folder);
            }
        }
    }
    if (YamlNode* rules = find(root, "rules")) {
        for (YamlNode& rule : rules->items) {
            if (YamlNode* overrides = find(rule, "overrides")) {
                make_absolute(find(*overrides, "file"), folder);
            }
        }
    }
}

// Takes file after file, and reports what two of them have of which there is one.
class Joiner {
public:
    explicit Joiner(Problems& problems) noexcept : problems_{problems} {}

    void add(YamlNode root) {
        check_version(root);
        if (!root.is_map()) {
            if (root.kind != YamlNode::Kind::Null) {
                problems_.error(root.at, "a rule file must be a map, found " + kind_name(root));
            }
            return;
        }
        if (joined_.kind == YamlNode::Kind::Null) {
            joined_.kind = YamlNode::Kind::Map;
            joined_.at = root.at;
        }
        for (YamlEntry& entry : root.entries) {
            add(std::move(entry));
        }
    }

    void add_tenant(YamlNode root, const TenantOptions& tenant) {
        check_version(root);
        refuse_operators_keys(root, tenant, problems_);
        if (root.is_map()) {
            tenants_.push_back({&tenant, std::move(root)});
        } else {
            problems_.error(root.at, "a rule file must be a map, found " + kind_name(root));
        }
    }

    [[nodiscard]] JoinedFiles::Trees take() { return {std::move(joined_), std::move(tenants_)}; }

private:
    void check_version(const YamlNode& root) {
        const YamlNode* version = root.is_map() ? value_of(root, "version") : nullptr;
        if (version == nullptr) {
            problems_.error(root.at, "a rule file begins with `version: 1`");
        } else if (std::string fault = version_fault(*version); !fault.empty()) {
            problems_.error(version->at, std::move(fault));
        }
    }

    void add(YamlEntry entry) {
        const std::string& key = entry.key.text;
        YamlNode* const known = find(joined_, key);
        if (key == "version" && known != nullptr) {
            return;  // of each file, and all are the same
        }
        if (key == "rules" || key == "bypass" || key == "services") {
            join_lists(known, std::move(entry));
        } else if (key == "limits" || key == "data") {
            join_maps(known, std::move(entry), "");
        } else {
            add_once(joined_, std::move(entry), "");
        }
    }

    void join_lists(YamlNode* known, YamlEntry entry) {
        if (!entry.value.is_list()) {
            problems_.error(entry.value.at, "`" + entry.key.text +
                                                "` is a list, [] for nothing in it; found " +
                                                kind_name(entry.value));
        } else if (known == nullptr) {
            joined_.entries.push_back(std::move(entry));
        } else {
            std::move(entry.value.items.begin(), entry.value.items.end(),
                      std::back_inserter(known->items));
        }
    }

    // `inside`: of what they are a part, for messages.
    void join_maps(YamlNode* known, YamlEntry entry, const std::string& inside) {
        if (!entry.value.is_map()) {
            problems_.error(entry.value.at,
                            "`" + entry.key.text + "` is a map, found " + kind_name(entry.value));
            return;
        }
        if (known == nullptr) {
            joined_.entries.push_back(
                {entry.key, {.kind = YamlNode::Kind::Map, .at = entry.value.at}});
            known = &joined_.entries.back().value;
        }
        join_into(*known, std::move(entry.value), entry.key.text + inside);
    }

    void join_into(YamlNode& known, YamlNode more, const std::string& of) {
        for (YamlEntry& one : more.entries) {
            YamlNode* const there = of == "data" && one.key.text == "lists" && one.value.is_map()
                                        ? find(known, "lists")
                                        : nullptr;
            if (there != nullptr && there->is_map()) {
                join_into(*there, std::move(one.value), "data: lists");
            } else {
                add_once(known, std::move(one), of);
            }
        }
    }

    void add_once(YamlNode& map, YamlEntry entry, const std::string& of) {
        const auto first =
            std::find_if(map.entries.begin(), map.entries.end(),
                         [&](const YamlEntry& one) { return one.key.text == entry.key.text; });
        if (first == map.entries.end()) {
            map.entries.push_back(std::move(entry));
            return;
        }
        const std::string what = of == "limits"        ? "two limits are called `"
                                 : of == "data: lists" ? "two lists are called `"
                                                       : "the files give `";
        problems_.error(entry.key.at,
                        what + entry.key.text + (what.starts_with("two") ? "`" : "` twice") +
                            "; the first stands at " + problems_.place_text(first->key.at));
    }

    Problems& problems_;
    YamlNode joined_;
    std::vector<TenantTree> tenants_;
};

}  // namespace

JoinedFiles::JoinedFiles(std::span<const RuleFilePart> parts) : parts_{parts} {
    std::size_t size = 0;
    for (const RuleFilePart& part : parts) {
        size += part.text.size() + 1;
    }
    text_.reserve(size);
    std::uint32_t line = 1;
    for (const RuleFilePart& part : parts) {
        starts_.push_back({std::string{part.file}, line});
        const std::size_t begin = text_.size();
        // The reader of YAML skips a byte order mark, and counts no column for it.
        text_ += part.text.starts_with(kByteOrderMark) ? part.text.substr(kByteOrderMark.size())
                                                       : part.text;
        if (text_.size() == begin || text_.back() != '\n') {
            text_ += '\n';
        }
        line += static_cast<std::uint32_t>(
            std::count(text_.begin() + static_cast<std::ptrdiff_t>(begin), text_.end(), '\n'));
    }
}

std::optional<JoinedFiles::Trees> JoinedFiles::read(Problems& problems) const {
    Joiner joiner{problems};
    bool whole = true;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const std::uint32_t lines = starts_[i].line - 1;
        Problems own{starts_[i].file, problems.stop()};
        const LineIndex index{parts_[i].text};
        std::optional<YamlNode> root = read_yaml(index, own);
        for (const Problem& problem : own.list()) {
            problems.error({problem.at.line == 0 ? 0 : problem.at.line + lines, problem.at.column},
                           problem.message);
        }
        if (!root) {
            whole = false;
            continue;
        }
        shift(*root, lines);
        if (parts_[i].tenant != nullptr) {
            joiner.add_tenant(*std::move(root), *parts_[i].tenant);
            continue;
        }
        if (parts_[i].folder != parts_.front().folder) {
            make_paths_absolute(*root, parts_[i].folder);
        }
        joiner.add(*std::move(root));
    }
    return whole ? std::optional{joiner.take()} : std::nullopt;
}

}  // namespace sluice
